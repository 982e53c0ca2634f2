#include "shard/remote/remote_file.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace headrace {
namespace {

constexpr std::size_t kFirstWindow = 8 << 20;
constexpr std::size_t kWindowAfterJump = 4 << 20;
constexpr std::size_t kSmallestPart = 256 * 1024;
constexpr std::size_t kLargestPart = 4 << 20;
// The window holds about so many parts while it is small.
constexpr std::size_t kPartsInWindow = 4;
// Without ranges each part is fetched from the start of the object: few large ones.
constexpr std::size_t kPartWithoutRanges = 64 << 20;
// What the cache keeps lies on a grid, so that every reader asks for the same parts.
constexpr std::size_t kCachedPart = 2 << 20;

class RemoteOrigin : public ShardOrigin {
 public:
  RemoteOrigin(std::shared_ptr<RemoteSession> session, std::shared_ptr<const RemoteTarget> target)
      : session_(std::move(session)), target_(std::move(target)) {}
  Result<std::unique_ptr<StoredFile>> open() const override {
    return std::unique_ptr<StoredFile>(std::make_unique<RemoteFile>(session_, target_));
  }
  std::unique_ptr<StoredFile> open_ahead() const override {
    auto file = std::make_unique<RemoteFile>(session_, target_);
    file->start();
    return file;
  }

 private:
  const std::shared_ptr<RemoteSession> session_;
  const std::shared_ptr<const RemoteTarget> target_;
};

Status no_memory() { return {StatusCode::kResourceExhausted, "no memory to read ahead"}; }

}  // namespace

std::shared_ptr<const ShardOrigin> make_remote_origin(std::shared_ptr<RemoteSession> session,
                                                      std::shared_ptr<const RemoteTarget> target) {
  return std::make_shared<RemoteOrigin>(std::move(session), std::move(target));
}

RemoteFile::RemoteFile(std::shared_ptr<RemoteSession> session, std::shared_ptr<const RemoteTarget> target)
    : session_(std::move(session)), target_(std::move(target)), window_(kFirstWindow) {
  session_->memory()->add_file();
  if (!target_->has_ranges && target_->size > kPartWithoutRanges) {
    session_->warn("no ranges", "the server sends whole files only, so that every " +
                                    std::to_string(kPartWithoutRanges >> 20) +
                                    " MiB of a file are fetched from its start: " + target_->path);
  }
}

RemoteFile::~RemoteFile() {
  drop_parts();
  session_->memory()->remove_file();
}

void RemoteFile::drop_parts() {
  for (const auto& part : parts_) part->abandon();
  parts_.clear();
}

std::size_t RemoteFile::part_bytes(std::size_t share) const {
  if (!target_->has_ranges) return kPartWithoutRanges;
  if (session_->cache() != nullptr) return kCachedPart - static_cast<std::size_t>(next_ % kCachedPart);
  return std::clamp(std::min(window_, share) / kPartsInWindow, kSmallestPart, kLargestPart);
}

void RemoteFile::fetch_ahead(std::uint64_t offset) {
  const std::size_t share = session_->memory()->share();
  while (next_ < target_->size) {
    const std::size_t bytes = part_bytes(share);
    const bool is_needed = parts_.empty();
    if (!is_needed && (!target_->has_ranges || next_ - offset + bytes > std::min(window_, share))) return;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, target_->size - next_));
    PartMemory::Piece piece = session_->memory()->take(size, is_needed);
    if (piece.data == nullptr) return session_->memory()->give(std::move(piece));
    auto part = std::make_shared<RemotePart>(target_, ByteRange{next_, next_ + size}, session_->memory(),
                                             std::move(piece), session_->stop_token());
    // In the order in which they were asked for, over all files; but for one that a reader waits for.
    session_->submit(is_needed ? 0 : 1, [part, session = session_.get()] { part->fetch(session); });
    parts_.push_back(std::move(part));
    next_ += size;
  }
}

void RemoteFile::start() {
  window_ = SIZE_MAX;  // it will be read in order: all that its share allows
  fetch_ahead(0);
}

RemotePart* RemoteFile::part_at(std::uint64_t offset) {
  const bool is_in_order = !parts_.empty() && offset >= parts_.front()->begin() && offset <= next_;
  if (!is_in_order) {
    drop_parts();
    next_ = session_->cache() != nullptr ? offset - offset % kCachedPart : offset;
    window_ = kWindowAfterJump;
  }
  while (!parts_.empty() && parts_.front()->end() <= offset) {
    parts_.front()->abandon();
    parts_.pop_front();
    if (window_ < session_->memory()->share()) window_ *= 2;
  }
  fetch_ahead(offset);
  return parts_.empty() ? nullptr : parts_.front().get();
}

Result<std::size_t> RemoteFile::read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < size && offset + done < target_->size) {
    RemotePart* part = part_at(offset + done);
    if (part == nullptr) return no_memory();
    const Result<std::size_t> n = part->read(data + done, size - done, offset + done);
    if (!n.ok()) {
      if (done > 0) break;  // the next call says what is wrong
      return n.status();
    }
    done += *n;
  }
  return done;
}

std::optional<Result<std::size_t>> RemoteFile::try_read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < size && offset + done < target_->size) {
    RemotePart* part = part_at(offset + done);
    if (part == nullptr) return Result<std::size_t>(no_memory());
    const auto n = part->try_read(data + done, size - done, offset + done);
    if (!n) {
      if (done == 0) return std::nullopt;
      break;
    }
    if (!n->ok()) {
      if (done == 0) return n;
      break;
    }
    done += **n;
  }
  return Result<std::size_t>(done);
}

}  // namespace headrace
