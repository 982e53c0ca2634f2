#include "record/header_walk.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/wire.h"
#include "record/framing.h"
#include "record/index_identity.h"
#include "record/length_limit.h"
#include "runtime/interrupt.h"
#include "shard/byte_source.h"

namespace headrace {
namespace {

// From records of this mean size on, a plain file is read a header at a time: below it, a system call for each costs more
// than reading what stands between them.
constexpr std::uint64_t kJumpBytes = 16 * 1024;
constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr std::uint64_t kToldBytes = 4 << 20;

class HeaderWalk {
 public:
  HeaderWalk(std::unique_ptr<ByteSource> source, std::string path, std::uint64_t max_length)
      : source_(std::move(source)), path_(std::move(path)), max_length_(max_length), buffer_(kBufferBytes) {}

  /// Appends lengths until the buffer holds no further header; false at the end of the file.
  Result<bool> step(std::vector<std::uint32_t>* lengths) {
    while (next_ + kHeaderBytes <= begin_ + filled_) {
      const std::uint8_t* header = buffer_.data() + (next_ - begin_);
      if (!header_holds(header)) return damaged("corrupted", "the checksum of its length does not match", *lengths);
      const std::uint64_t length = load_u64(header);
      if (length > max_length_) return damaged("corrupted", "its length is over the limit", *lengths);
      lengths->push_back(static_cast<std::uint32_t>(length));
      last_ = next_;
      next_ += kFrameBytes + length;
    }
    HEADRACE_ASSIGN_OR_RETURN(const bool more, refill(*lengths));
    if (more) return true;
    const std::uint64_t end = begin_ + filled_;
    if (next_ == end) return false;
    if (next_ > end) {
      lengths->pop_back();
      next_ = last_;
    }
    return damaged("truncated", "the file ends before it does", *lengths);
  }

  std::uint64_t file_bytes() const { return source_->remaining() ? next_ : source_->file_position(); }

 private:
  /// Moves the buffer to next_; false when the file has no whole header there.
  Result<bool> refill(const std::vector<std::uint32_t>& lengths) {
    if (const std::optional<std::uint64_t> remaining = source_->remaining()) {
      const std::uint64_t size = source_->position() + *remaining;
      const bool jumps = next_ > kJumpBytes * lengths.size();
      begin_ = std::min(next_, size);
      filled_ = 0;
      HEADRACE_RETURN_IF_ERROR(source_->seek(begin_));
      return read(jumps ? kHeaderBytes : kBufferBytes);
    }
    const std::uint64_t end = begin_ + filled_;
    filled_ = next_ < end ? static_cast<std::size_t>(end - next_) : 0;
    if (filled_ > 0) std::memmove(buffer_.data(), buffer_.data() + (next_ - begin_), filled_);
    begin_ = std::min(next_, end);
    while (begin_ < next_) {
      const auto passed = static_cast<std::size_t>(std::min<std::uint64_t>(next_ - begin_, kBufferBytes));
      HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, source_->read(buffer_.data(), passed));
      if (n == 0) return false;
      begin_ += n;
    }
    return read(kBufferBytes);
  }

  Result<bool> read(std::size_t most) {
    HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, source_->read(buffer_.data() + filled_, most - filled_));
    filled_ += n;
    return filled_ >= kHeaderBytes;
  }

  Status damaged(const char* what, const char* why, const std::vector<std::uint32_t>& lengths) const {
    return data_loss(std::string(what) + " record at " + std::to_string(next_) + ": " + why,
                     {.path = path_, .record = std::ssize(lengths), .offset = static_cast<std::int64_t>(next_)});
  }

  const std::unique_ptr<ByteSource> source_;
  const std::string path_;
  const std::uint64_t max_length_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t begin_ = 0;  // of the buffer, in the uncompressed stream
  std::size_t filled_ = 0;
  std::uint64_t next_ = 0;  // header
  std::uint64_t last_ = 0;  // the one before it
};

}  // namespace

Result<RecordIndex> walk_headers(const std::string& path, const ReadOptions& options, const WalkProgress& progress) {
  RecordIndex index;
  HEADRACE_ASSIGN_OR_RETURN(index.identity, identity_of(path));
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source,
                            open_byte_source({.path = path}, static_cast<Compression>(options.compression)));
  HeaderWalk walk(std::move(source), path, length_limit(options));
  for (std::uint64_t told = 0;;) {
    Result<bool> more = walk.step(&index.lengths);
    if (!more.ok()) return more.status().with({.path = path});
    if (!*more) break;
    if (interrupted()) return cancelled("stopped while making the index of " + path);
    if (walk.file_bytes() - told < kToldBytes) continue;
    told = walk.file_bytes();
    HEADRACE_RETURN_IF_ERROR(progress(told));
  }
  HEADRACE_ASSIGN_OR_RETURN(const FileIdentity after, identity_of(path));
  if (after == *index.identity) return index;
  return data_loss("the file was changed while it was read", {.path = path});
}

}  // namespace headrace
