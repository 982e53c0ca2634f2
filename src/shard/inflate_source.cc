#include "shard/inflate_source.h"

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/clock.h"
#include "shard/inflater.h"
#include "shard/member_finder.h"
#include "shard/seek_points.h"

namespace headrace {
namespace {

constexpr std::size_t kInputBytes = 128 * 1024;
constexpr std::size_t kSkipBytes = 64 * 1024;
constexpr std::size_t kGzipTrailerBytes = 8;
constexpr std::uint64_t kGapBytes = 1 << 20;

class InflateSource : public ByteSource {
 public:
  InflateSource(std::unique_ptr<StoredFile> file, Compression format, std::unique_ptr<Inflater> inflater)
      : file_(std::move(file)),
        format_(format),
        inflater_(std::move(inflater)),
        input_(std::min<std::uint64_t>(kInputBytes, file_->size())) {}

  Result<std::size_t> read(std::uint8_t* data, std::size_t size) override { return *inflate(data, size, true); }
  std::optional<Result<std::size_t>> try_read(std::uint8_t* data, std::size_t size) override {
    return inflate(data, size, false);
  }
  Status seek(std::uint64_t offset) override;
  Status seek_from(std::span<const SeekPoint> points, std::uint64_t offset) override;
  std::uint64_t position() const override { return position_; }
  std::uint64_t member_begin() const override { return member_position_; }
  Result<bool> member_holds() override;
  Result<bool> recover() override;
  std::optional<std::uint64_t> remaining() const override { return std::nullopt; }
  std::uint64_t file_position() const override { return compressed_position(); }
  Compression compression() const override { return format_; }
  InflateCost inflate_cost() const override {
    InflateCost cost = cost_;
    cost.memory_bytes = static_cast<std::int64_t>(inflater_->memory_bytes() + input_.size());
    return cost;
  }

 private:
  enum class Phase : std::uint8_t {
    kBetweenMembers = 1,
    kInMember,
    kInRestOfMember,  // from a seek point on, by resumed_
    kInTrailer,       // of such a member, which tells of all of it
    kEnd,
  };

  // Never nothing when `may_wait`.
  std::optional<Result<std::size_t>> inflate(std::uint8_t* data, std::size_t size, bool may_wait);
  // False when the input would have to be waited for.
  bool refill(bool may_wait);
  bool may_begin_member(std::uint8_t first) const;
  void begin_member();
  void skip_trailer();
  void inflate_member(std::uint8_t** out, std::size_t* room);
  void fail(const std::string& text);
  void begin_at(std::uint64_t file_offset, std::uint64_t position);
  void give_back(std::size_t bytes);
  std::uint64_t compressed_position() const { return file_position_ - input_size_; }

  const std::unique_ptr<StoredFile> file_;
  const Compression format_;
  const std::unique_ptr<Inflater> inflater_;
  std::unique_ptr<Inflater> resumed_;
  std::size_t trailer_left_ = 0;
  std::vector<std::uint8_t> input_;
  const std::uint8_t* input_begin_ = nullptr;
  std::size_t input_size_ = 0;
  std::uint64_t file_position_ = 0;  // behind the bytes in input_
  bool input_ended_ = false;
  bool first_member_ = true;
  Phase phase_ = Phase::kBetweenMembers;
  std::uint64_t position_ = 0;
  // Of the member that is inflated, or where none could begin.
  std::uint64_t member_position_ = 0;
  std::uint64_t member_offset_ = 0;   // in the file
  std::optional<bool> member_holds_;  // once it was asked for
  InflateCost cost_;
  Status failure_;  // given once the bytes before it are
};

void InflateSource::fail(const std::string& text) {
  failure_ = data_loss(std::string(compression_name(format_)) + " stream: " + text + " (near byte " +
                           std::to_string(compressed_position()) + " of the compressed file)",
                       {.path = file_->path()});
}

bool InflateSource::refill(bool may_wait) {
  if (input_size_ > 0 || input_ended_) return true;
  std::optional<Result<std::size_t>> n;
  if (may_wait) {
    n = file_->read_at(input_.data(), input_.size(), file_position_);
  } else {
    n = file_->try_read_at(input_.data(), input_.size(), file_position_);
    if (!n) return false;
  }
  if (!n->ok()) {
    failure_ = n->status();
    return true;
  }
  input_begin_ = input_.data();
  input_size_ = **n;
  file_position_ += **n;
  input_ended_ = **n == 0;
  return true;
}

bool InflateSource::may_begin_member(std::uint8_t first) const {
  switch (format_) {
    case Compression::kGzip:
      return first == 0x1F;
    case Compression::kZlib:
      return (first & 0x0F) == 8;
    case Compression::kZstd:
      return first == 0x28 || (first & 0xF0) == 0x50;  // of data, or skippable
    default:
      return true;
  }
}

void InflateSource::begin_member() {
  if (!first_member_) {
    const bool has_padding = format_ == Compression::kGzip || format_ == Compression::kZlib;
    while (has_padding && input_size_ > 0 && *input_begin_ == 0) {
      ++input_begin_;
      --input_size_;
    }
    if (input_size_ == 0) return;  // more padding, or the end
    member_position_ = position_;
    member_offset_ = compressed_position();
    member_holds_.reset();
    if (!may_begin_member(*input_begin_)) return fail("other data follow the compressed stream");
    inflater_->reset();
  }
  first_member_ = false;
  phase_ = Phase::kInMember;
}

// What was inflated before the point is not known, so its checksum cannot be compared.
void InflateSource::skip_trailer() {
  if (input_size_ == 0 && input_ended_) return fail("it is cut: the end of the file was reached inside the trailer");
  const std::size_t taken = std::min(trailer_left_, input_size_);
  input_begin_ += taken;
  input_size_ -= taken;
  trailer_left_ -= taken;
  if (trailer_left_ == 0) phase_ = Phase::kBetweenMembers;
}

void InflateSource::inflate_member(std::uint8_t** out, std::size_t* room) {
  const std::size_t room_before = *room;
  const std::size_t input_before = input_size_;
  Inflater* const inflater = phase_ == Phase::kInMember ? inflater_.get() : resumed_.get();
  const std::int64_t begin_ns = now_ns();
  const Inflater::Outcome outcome = inflater->step(&input_begin_, &input_size_, out, room);
  cost_.busy_ns += now_ns() - begin_ns;
  cost_.file_bytes += static_cast<std::int64_t>(input_before - input_size_);
  cost_.bytes += static_cast<std::int64_t>(room_before - *room);
  switch (outcome) {
    case Inflater::Outcome::kMore:
      if (*room == room_before && input_size_ == input_before) {
        fail(input_ended_ ? "it is cut: the end of the file was reached inside the compressed data" : "no progress");
      }
      break;
    case Inflater::Outcome::kMemberEnd:
      trailer_left_ = kGzipTrailerBytes;
      phase_ = phase_ == Phase::kInMember ? Phase::kBetweenMembers : Phase::kInTrailer;
      give_back(inflater->taken_too_much());
      break;
    case Inflater::Outcome::kDamaged:
      fail(std::string("inflate failed: ") + inflater->reason());
      break;
  }
  position_ += room_before - *room;
}

std::optional<Result<std::size_t>> InflateSource::inflate(std::uint8_t* data, std::size_t size, bool may_wait) {
  std::uint8_t* out = data;
  std::size_t room = size;
  while (room > 0 && phase_ != Phase::kEnd && failure_.ok()) {
    if (!refill(may_wait)) {
      if (room == size) return std::nullopt;
      break;
    }
    if (!failure_.ok()) break;
    if (phase_ == Phase::kInMember || phase_ == Phase::kInRestOfMember) {
      inflate_member(&out, &room);
    } else if (phase_ == Phase::kInTrailer) {
      skip_trailer();
    } else if (input_size_ > 0) {
      begin_member();
    } else if (input_ended_) {
      phase_ = Phase::kEnd;
    }
  }
  if (room == size && !failure_.ok()) return Result<std::size_t>(failure_);
  return Result<std::size_t>(size - room);
}

Status InflateSource::seek_from(std::span<const SeekPoint> points, std::uint64_t offset) {
  const auto behind =
      std::upper_bound(points.begin(), points.end(), offset,
                       [](std::uint64_t wanted, const SeekPoint& p) { return wanted < p.stream_offset; });
  const SeekPoint* const point = behind == points.begin() ? nullptr : &*(behind - 1);
  const bool is_nearer = point != nullptr && (offset < position_ || point->stream_offset > position_);
  if (format_ != Compression::kGzip || !is_nearer) return seek(offset);
  std::uint8_t byte = 0;
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, file_->read_at(&byte, 1, point->file_offset - 1));
  resumed_ = n == 1 ? make_inflater_at(*point, byte) : nullptr;
  if (resumed_ == nullptr) return seek(offset);
  begin_at(point->file_offset, point->stream_offset);
  first_member_ = false;
  phase_ = Phase::kInRestOfMember;
  return seek(offset);
}

// They may have been in the piece of the file before the one in input_.
void InflateSource::give_back(std::size_t bytes) {
  if (bytes == 0) return;
  file_position_ = compressed_position() - bytes;
  cost_.file_bytes -= static_cast<std::int64_t>(bytes);
  input_size_ = 0;
  input_ended_ = false;
}

void InflateSource::begin_at(std::uint64_t file_offset, std::uint64_t position) {
  inflater_->reset();
  input_size_ = 0;
  file_position_ = file_offset;
  input_ended_ = false;
  phase_ = Phase::kBetweenMembers;
  position_ = position;
  member_position_ = position;
  member_offset_ = file_offset;
  member_holds_.reset();
  failure_ = Status();
}

Result<bool> InflateSource::member_holds() {
  if (!member_holds_) {
    HEADRACE_ASSIGN_OR_RETURN(const MemberCheck check, check_member(file_.get(), format_, member_offset_, UINT64_MAX));
    member_holds_ = check.outcome == MemberCheck::Outcome::kWhole;
  }
  return *member_holds_;
}

Result<bool> InflateSource::recover() {
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::uint64_t> next,
                            find_member(file_.get(), format_, member_offset_ + 1));
  if (!next) return false;
  // How much a damaged member gives depends a little on the sizes in which it is read, its check does not.
  HEADRACE_ASSIGN_OR_RETURN(const MemberCheck check, check_member(file_.get(), format_, member_offset_, UINT64_MAX));
  begin_at(*next, member_position_ + check.bytes + kGapBytes);
  return true;
}

Status InflateSource::seek(std::uint64_t offset) {
  if (offset < position_) {
    begin_at(0, 0);
    first_member_ = true;
  }
  std::vector<std::uint8_t> skipped(std::min<std::uint64_t>(kSkipBytes, offset - position_));
  while (position_ < offset) {
    HEADRACE_ASSIGN_OR_RETURN(const std::size_t n,
                              read(skipped.data(), std::min<std::uint64_t>(skipped.size(), offset - position_)));
    if (n == 0) {
      return data_loss("offset " + std::to_string(offset) + " lies behind the end of the data",
                       {.path = file_->path()});
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ByteSource>> make_inflate_source(std::unique_ptr<StoredFile> file, Compression format) {
  if (!has_compression(format)) return lacks_compression(format).with({.path = file->path()});
  std::unique_ptr<Inflater> inflater = make_inflater(format);
  if (inflater == nullptr) {
    return Status(StatusCode::kResourceExhausted, "no memory to inflate", {.path = file->path()});
  }
  return std::unique_ptr<ByteSource>(std::make_unique<InflateSource>(std::move(file), format, std::move(inflater)));
}

}  // namespace headrace
