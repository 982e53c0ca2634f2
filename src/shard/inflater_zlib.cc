#include <zlib.h>

#include <algorithm>

#include "shard/inflater.h"

namespace headrace {
namespace {

constexpr std::size_t kLargestStep = std::size_t{1} << 30;  // zlib counts in 32 bits

class ZlibInflater : public Inflater {
 public:
  ZlibInflater() = default;
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;
  ~ZlibInflater() override {
    if (ready_) inflateEnd(&stream_);
  }

  bool init(Compression format) {
    ready_ = inflateInit2(&stream_, format == Compression::kGzip ? MAX_WBITS + 16 : MAX_WBITS) == Z_OK;
    return ready_;
  }

  void reset() override { inflateReset(&stream_); }

  Outcome step(const std::uint8_t** in, std::size_t* in_size, std::uint8_t** out, std::size_t* out_size) override {
    const auto offered = static_cast<uInt>(std::min(*in_size, kLargestStep));
    const auto room = static_cast<uInt>(std::min(*out_size, kLargestStep));
    stream_.next_in = const_cast<Bytef*>(*in);  // it does not write
    stream_.avail_in = offered;
    stream_.next_out = *out;
    stream_.avail_out = room;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    *in += offered - stream_.avail_in;
    *in_size -= offered - stream_.avail_in;
    *out += room - stream_.avail_out;
    *out_size -= room - stream_.avail_out;
    if (code == Z_STREAM_END) return Outcome::kMemberEnd;
    // Z_BUF_ERROR: no progress was possible, which is no damage.
    if (code == Z_OK || code == Z_BUF_ERROR) return Outcome::kMore;
    return Outcome::kDamaged;
  }

  const char* reason() const override { return stream_.msg != nullptr ? stream_.msg : "invalid data"; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

std::unique_ptr<Inflater> make_zlib_inflater(Compression format) {
  auto inflater = std::make_unique<ZlibInflater>();
  if (!inflater->init(format)) return nullptr;
  return inflater;
}

}  // namespace headrace
