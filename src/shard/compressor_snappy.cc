#include "shard/compressor.h"

#if defined(HEADRACE_HAVE_SNAPPY)
#include <snappy.h>

#include <algorithm>
#include <vector>

#include "base/checksum.h"
#include "base/wire.h"
#include "shard/snappy_frames.h"
#endif

namespace headrace {

#if defined(HEADRACE_HAVE_SNAPPY)
namespace {

class SnappyCompressor final : public Compressor {
 public:
  Status run(std::span<const std::uint8_t> bytes, bool end, const Write& write) override {
    if (!has_begun_) HEADRACE_RETURN_IF_ERROR(write(kSnappyStart));
    has_begun_ = true;
    while (pending_.size() + bytes.size() >= kSnappyChunkBytes) {
      const std::size_t taken = kSnappyChunkBytes - pending_.size();
      pending_.insert(pending_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
      bytes = bytes.subspan(taken);
      HEADRACE_RETURN_IF_ERROR(write_chunk(write));
    }
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return end && !pending_.empty() ? write_chunk(write) : Status();
  }

 private:
  // A chunk that hardly shrinks is left as it is, as the format's description asks for.
  Status write_chunk(const Write& write) {
    constexpr std::size_t kBody = kSnappyHeaderBytes + kSnappyChecksumBytes;
    out_.resize(kBody + snappy::MaxCompressedLength(pending_.size()));
    std::size_t size = 0;
    snappy::RawCompress(reinterpret_cast<const char*>(pending_.data()), pending_.size(),
                        reinterpret_cast<char*>(out_.data() + kBody), &size);
    const bool shrinks = size < pending_.size() - pending_.size() / 8;
    if (!shrinks) {
      size = pending_.size();
      std::copy(pending_.begin(), pending_.end(), out_.begin() + kBody);
    }
    const auto length = static_cast<std::uint32_t>(size + kSnappyChecksumBytes);
    store_u32(out_.data(), length << 8 | (shrinks ? kSnappyCompressed : kSnappyUncompressed));
    store_u32(out_.data() + kSnappyHeaderBytes, mask_crc(crc32c(pending_.data(), pending_.size())));
    pending_.clear();
    return write({out_.data(), kBody + size});
  }

  bool has_begun_ = false;
  std::vector<std::uint8_t> pending_;  // less than a chunk
  std::vector<std::uint8_t> out_;
};

}  // namespace

std::unique_ptr<Compressor> make_snappy_compressor() { return std::make_unique<SnappyCompressor>(); }
#else
std::unique_ptr<Compressor> make_snappy_compressor() { return nullptr; }
#endif

}  // namespace headrace
