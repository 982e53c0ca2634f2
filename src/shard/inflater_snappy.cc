#include "shard/inflater.h"

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

// A member is a chunk: between two of them a stream may end.
class SnappyInflater final : public Inflater {
 public:
  void reset() override {
    chunk_.clear();
    data_.clear();
    given_ = 0;
    to_skip_ = 0;
    phase_ = Phase::kHeader;
  }

  Outcome step(const std::uint8_t** in, std::size_t* in_size, std::uint8_t** out, std::size_t* out_size) override {
    if (phase_ == Phase::kHeader && !(take(in, in_size, kSnappyHeaderBytes) && begin_chunk())) return unfinished();
    if (phase_ == Phase::kSkipping) {
      const std::size_t skipped = std::min(to_skip_, *in_size);
      *in += skipped;
      *in_size -= skipped;
      to_skip_ -= skipped;
      return to_skip_ == 0 ? Outcome::kMemberEnd : Outcome::kMore;
    }
    if (phase_ == Phase::kBody && !(take(in, in_size, kSnappyHeaderBytes + body_bytes_) && read_body())) {
      return unfinished();
    }
    const std::size_t size = std::min(*out_size, data_.size() - given_);
    std::copy_n(data_.data() + given_, size, *out);  // of a stream's identifier there is nothing
    *out += size;
    *out_size -= size;
    given_ += size;
    return given_ == data_.size() ? Outcome::kMemberEnd : Outcome::kMore;
  }

  const char* reason() const override { return reason_; }

 private:
  enum class Phase : std::uint8_t { kHeader = 1, kBody, kSkipping, kData, kDamaged };

  Outcome unfinished() const { return phase_ == Phase::kDamaged ? Outcome::kDamaged : Outcome::kMore; }

  bool damaged(const char* reason) {
    reason_ = reason;
    phase_ = Phase::kDamaged;
    return false;
  }

  /// True once the chunk has `size` bytes.
  bool take(const std::uint8_t** in, std::size_t* in_size, std::size_t size) {
    const std::size_t taken = std::min(size - chunk_.size(), *in_size);
    chunk_.insert(chunk_.end(), *in, *in + taken);
    *in += taken;
    *in_size -= taken;
    return chunk_.size() == size;
  }

  bool begin_chunk() {
    const std::uint32_t header = load_u32(chunk_.data());
    body_bytes_ = header >> 8;
    switch (chunk_[0]) {
      case kSnappyCompressed:
      case kSnappyUncompressed:
        if (body_bytes_ < kSnappyChecksumBytes) return damaged("a chunk without its checksum");
        if (body_bytes_ > kSnappyChecksumBytes + snappy::MaxCompressedLength(kSnappyChunkBytes)) {
          return damaged("a chunk that is too long");
        }
        break;
      case kSnappyIdentifier:
        if (body_bytes_ != kSnappyStart.size() - kSnappyHeaderBytes) return damaged("a wrong stream identifier");
        break;
      default:
        if (chunk_[0] < kSnappyFirstSkippable) return damaged("a chunk of unknown type");
        to_skip_ = body_bytes_;
        phase_ = Phase::kSkipping;
        return true;
    }
    phase_ = Phase::kBody;
    return true;
  }

  bool read_body() {
    const std::uint8_t* body = chunk_.data() + kSnappyHeaderBytes;
    if (chunk_[0] == kSnappyIdentifier) {
      if (!std::equal(chunk_.begin(), chunk_.end(), kSnappyStart.begin())) return damaged("a wrong stream identifier");
      phase_ = Phase::kData;
      return true;
    }
    const std::uint8_t* stored = body + kSnappyChecksumBytes;
    const std::size_t size = body_bytes_ - kSnappyChecksumBytes;
    if (chunk_[0] == kSnappyUncompressed) {
      if (size > kSnappyChunkBytes) return damaged("a chunk that is too long");
      data_.assign(stored, stored + size);
    } else if (!uncompress(reinterpret_cast<const char*>(stored), size)) {
      return damaged("invalid compressed data");
    }
    if (mask_crc(crc32c(data_.data(), data_.size())) != load_u32(body)) return damaged("incorrect data check");
    phase_ = Phase::kData;
    return true;
  }

  bool uncompress(const char* data, std::size_t size) {
    std::size_t whole = 0;
    if (!snappy::GetUncompressedLength(data, size, &whole) || whole > kSnappyChunkBytes) return false;
    data_.resize(whole);
    return snappy::RawUncompress(data, size, reinterpret_cast<char*>(data_.data()));
  }

  Phase phase_ = Phase::kHeader;
  std::size_t body_bytes_ = 0;
  std::size_t to_skip_ = 0;
  std::size_t given_ = 0;            // of data_
  std::vector<std::uint8_t> chunk_;  // header and body, as far as they are read
  std::vector<std::uint8_t> data_;   // uncompressed
  const char* reason_ = "invalid data";
};

}  // namespace

std::unique_ptr<Inflater> make_snappy_inflater() { return std::make_unique<SnappyInflater>(); }
#else
std::unique_ptr<Inflater> make_snappy_inflater() { return nullptr; }
#endif

}  // namespace headrace
