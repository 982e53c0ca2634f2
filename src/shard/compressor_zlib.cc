#include <zlib.h>

#include <algorithm>
#include <vector>

#include "shard/compressor.h"

namespace headrace {
namespace {

constexpr std::size_t kOutBytes = 64 * 1024;
constexpr std::size_t kLargestStep = std::size_t{1} << 30;  // zlib counts in 32 bits

class ZlibCompressor final : public Compressor {
 public:
  ZlibCompressor() = default;
  ZlibCompressor(const ZlibCompressor&) = delete;
  ZlibCompressor& operator=(const ZlibCompressor&) = delete;
  ~ZlibCompressor() override {
    if (ready_) deflateEnd(&stream_);
  }

  bool init(Compression format, int level) {
    const int window = format == Compression::kGzip ? MAX_WBITS + 16 : MAX_WBITS;
    constexpr int kMemoryLevel = 9;
    ready_ = deflateInit2(&stream_, level, Z_DEFLATED, window, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
    return ready_;
  }

  Status run(std::span<const std::uint8_t> bytes, bool end, const Write& write) override {
    do {
      const auto step = static_cast<uInt>(std::min(bytes.size(), kLargestStep));
      stream_.next_in = const_cast<Bytef*>(bytes.data());  // it does not write
      stream_.avail_in = step;
      bytes = bytes.subspan(step);
      const int flush = end && bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
      do {
        stream_.next_out = out_.data();
        stream_.avail_out = static_cast<uInt>(out_.size());
        deflate(&stream_, flush);  // it fails only on a broken stream_
        HEADRACE_RETURN_IF_ERROR(write({out_.data(), out_.size() - stream_.avail_out}));
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
    return {};
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
  std::vector<std::uint8_t> out_ = std::vector<std::uint8_t>(kOutBytes);
};

}  // namespace

std::unique_ptr<Compressor> make_zlib_compressor(Compression format, int level) {
  auto compressor = std::make_unique<ZlibCompressor>();
  if (!compressor->init(format, level)) return nullptr;
  return compressor;
}

}  // namespace headrace
