#include "shard/seek_points.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "runtime/interrupt.h"
#include "shard/compression.h"
#include "shard/file.h"

namespace headrace {
namespace {

constexpr std::uint64_t kSpacingBytes = 1 << 20;
constexpr std::size_t kInputBytes = 256 * 1024;
constexpr std::size_t kWindowBytes = 32 * 1024;  // as far as deflate refers back

// Owns a z_stream.
class Deflated {
 public:
  Deflated() = default;
  Deflated(const Deflated&) = delete;
  Deflated& operator=(const Deflated&) = delete;
  ~Deflated() {
    if (ready_) inflateEnd(&stream);
  }
  bool init(int window_bits) {
    ready_ = inflateInit2(&stream, window_bits) == Z_OK;
    return ready_;
  }
  z_stream stream{};

 private:
  bool ready_ = false;
};

// Keeps points evenly: when there are too many, every other one goes and the rest are found twice as far apart.
class PointList {
 public:
  bool wants(std::uint64_t stream_offset) const {
    return stream_offset >= (points_.empty() ? 0 : points_.back().stream_offset) + spacing_;
  }
  void add(SeekPoint point) {
    points_.push_back(std::move(point));
    if (points_.size() <= kMostSeekPoints) return;
    spacing_ *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 1; i < points_.size(); i += 2) points_[kept++] = std::move(points_[i]);
    points_.resize(kept);
  }
  std::vector<SeekPoint> take() { return std::move(points_); }

 private:
  std::uint64_t spacing_ = kSpacingBytes;
  std::vector<SeekPoint> points_;
};

Status damaged(const std::string& path) { return data_loss("gzip stream: inflate failed", {.path = path}); }

class ResumedInflater final : public Inflater {
 public:
  bool init(const SeekPoint& point, std::uint8_t byte) {
    if (point.bits > 7 || point.window.size() > kWindowBytes || !deflated_.init(-MAX_WBITS)) return false;
    z_stream* const stream = &deflated_.stream;
    if (point.bits > 0 && inflatePrime(stream, point.bits, byte >> (8 - point.bits)) != Z_OK) return false;
    const auto window = static_cast<uInt>(point.window.size());
    return window == 0 || inflateSetDictionary(stream, point.window.data(), window) == Z_OK;
  }

  void reset() override { inflateReset2(&deflated_.stream, -MAX_WBITS); }

  Outcome step(const std::uint8_t** in, std::size_t* in_size, std::uint8_t** out, std::size_t* out_size) override {
    constexpr std::size_t kLargestStep = std::size_t{1} << 30;  // zlib counts in 32 bits
    z_stream& stream = deflated_.stream;
    const auto offered = static_cast<uInt>(std::min(*in_size, kLargestStep));
    const auto room = static_cast<uInt>(std::min(*out_size, kLargestStep));
    stream.next_in = const_cast<Bytef*>(*in);  // it does not write
    stream.avail_in = offered;
    stream.next_out = *out;
    stream.avail_out = room;
    const int code = inflate(&stream, Z_NO_FLUSH);
    *in += offered - stream.avail_in;
    *in_size -= offered - stream.avail_in;
    *out += room - stream.avail_out;
    *out_size -= room - stream.avail_out;
    if (code == Z_STREAM_END) return Outcome::kMemberEnd;
    return code == Z_OK || code == Z_BUF_ERROR ? Outcome::kMore : Outcome::kDamaged;
  }

  const char* reason() const override {
    return deflated_.stream.msg != nullptr ? deflated_.stream.msg : "invalid data";
  }

 private:
  Deflated deflated_;
};

}  // namespace

Result<std::vector<SeekPoint>> find_seek_points(const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const File file, File::open(path));
  Deflated deflated;
  if (!deflated.init(MAX_WBITS + 16)) return Status(StatusCode::kResourceExhausted, "no memory to inflate");
  z_stream& stream = deflated.stream;
  std::vector<std::uint8_t> input(kInputBytes);
  std::vector<std::uint8_t> output(kInputBytes);
  PointList points;
  std::uint64_t file_offset = 0;    // behind what is in `input`
  std::uint64_t stream_offset = 0;  // of the next byte
  bool is_between_members = false;
  for (;;) {
    if (stream.avail_in == 0) {
      if (interrupted()) return cancelled("stopped while looking for seek points of " + path);
      HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, file.read_at(input.data(), input.size(), file_offset));
      if (n == 0) break;
      file_offset += n;
      stream.next_in = input.data();
      stream.avail_in = static_cast<uInt>(n);
    }
    if (is_between_members && *stream.next_in == 0) {  // padding
      ++stream.next_in;
      --stream.avail_in;
      continue;
    }
    is_between_members = false;
    stream.next_out = output.data();
    stream.avail_out = static_cast<uInt>(output.size());
    const int code = inflate(&stream, Z_BLOCK);
    stream_offset += output.size() - stream.avail_out;
    if (code == Z_STREAM_END) {
      inflateReset(&stream);
      is_between_members = true;
      continue;
    }
    if (code != Z_OK && code != Z_BUF_ERROR) return damaged(path);
    const bool is_at_border = (stream.data_type & 128) != 0 && (stream.data_type & 64) == 0;
    if (!is_at_border || !points.wants(stream_offset)) continue;
    SeekPoint point{.stream_offset = stream_offset,
                    .file_offset = file_offset - stream.avail_in,
                    .bits = static_cast<std::uint8_t>(stream.data_type & 7),
                    .window = std::vector<std::uint8_t>(kWindowBytes)};
    uInt size = kWindowBytes;
    if (inflateGetDictionary(&stream, point.window.data(), &size) != Z_OK) return damaged(path);
    point.window.resize(size);
    points.add(std::move(point));
  }
  return points.take();
}

std::unique_ptr<Inflater> make_inflater_at(const SeekPoint& point, std::uint8_t byte) {
  auto inflater = std::make_unique<ResumedInflater>();
  if (!inflater->init(point, byte)) return nullptr;
  return inflater;
}

}  // namespace headrace
