#include "shard/remote/remote_part.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "headrace/no_memory.h"
#include "runtime/interrupt.h"
#include "shard/remote/range_request.h"
#include "shard/remote/sigv4.h"

namespace headrace {

RemotePart::RemotePart(std::shared_ptr<const RemoteTarget> target, ByteRange range, std::shared_ptr<PartMemory> memory,
                       PartMemory::Piece piece, const std::stop_token& stop)
    : target_(std::move(target)),
      range_(range),
      memory_(std::move(memory)),
      piece_(std::move(piece)),
      stop_with_session_(stop, [this] { stop_.request_stop(); }) {}

RemotePart::~RemotePart() { memory_->give(std::move(piece_)); }

// True when the body that follows is what was asked for.
bool RemotePart::check_head(const HttpResponse& response) {
  head_checked_ = true;
  const std::uint64_t first = range_.first + received_;
  const std::string version = target_->store->version_of(response);
  std::optional<std::uint64_t> size;
  skip_ = 0;
  if (response.status == 206) {
    const auto range = content_range(response);
    if (!range || range->first != first) {
      wrong_head_ = {StatusCode::kIo, "cannot read: the server sends other bytes than those asked for"};
      return false;
    }
    size = range->size;
  } else {
    size = content_length(response);
    skip_ = first;
  }
  if ((size && *size != target_->size) ||
      (!version.empty() && !target_->version.empty() && version != target_->version)) {
    wrong_head_ = replaced(*target_);
  }
  return wrong_head_.ok();
}

bool RemotePart::take(const HttpResponse& response, std::span<const std::uint8_t> bytes) {
  if (response.status != 200 && response.status != 206) {
    error_body_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return error_body_.size() < kMostErrorBytes;
  }
  if (!head_checked_ && !check_head(response)) return false;
  const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
  skip_ -= skipped;
  bytes = bytes.subspan(skipped);
  const std::size_t n = std::min(bytes.size(), wanted() - received_);
  std::memcpy(piece_.data.get() + received_, bytes.data(), n);
  received_ += n;
  bool wakes = false;  // libcurl brings 16 KiB at a time: too little to wake a thread for
  {
    MutexLock lock(mutex_);
    wakes = filled_ < waited_for_ && received_ >= waited_for_;
    filled_ = received_;
  }
  if (wakes) changed_.notify_all();
  return n == bytes.size();  // more is not wanted
}

Judgement RemotePart::judge(const HttpOutcome& outcome) {
  const std::string body = std::exchange(error_body_, {});
  const std::size_t before = std::exchange(received_before_, received_);
  head_checked_ = false;
  if (!wrong_head_.ok()) return {Judgement::Kind::kFailed, wrong_head_};
  if (received_ == wanted()) return {};
  if (received_ > before) return {Judgement::Kind::kAgain};
  if (outcome.kind == HttpOutcome::Kind::kFailed) return judge_break(*target_, outcome);
  if (outcome.response.status != 200 && outcome.response.status != 206) {
    return judge_refusal(*target_, outcome.response, body);
  }
  return {Judgement::Kind::kRetry, {StatusCode::kIo, "cannot read: the server sends less than was asked for"}};
}

std::string RemotePart::cache_name() const {
  const std::string object = target_->path + '\n' + target_->version + '\n' + std::to_string(target_->size);
  return sha256_hex(object).substr(0, 32) + "-" + std::to_string(range_.first) + "-" + std::to_string(range_.end);
}

bool RemotePart::take_from_cache(PartCache* cache) {
  if (cache == nullptr || target_->version.empty() || !cache->read(cache_name(), {piece_.data.get(), wanted()})) {
    return false;
  }
  {
    MutexLock lock(mutex_);
    filled_ = wanted();
    is_over_ = true;
  }
  changed_.notify_all();
  return true;
}

void RemotePart::keep(RemoteSession* session) {
  if (session->cache() == nullptr || target_->version.empty()) return;
  const Status kept = session->cache()->write(cache_name(), {piece_.data.get(), wanted()});
  if (!kept.ok()) session->warn("cache", "the cache of remote files is not used any more: " + kept.to_string());
}

void RemotePart::fetch(RemoteSession* session) {
  if (take_from_cache(session->cache())) return;
  const auto make = [this] {
    return target_->store->get(target_->key, {range_.first + received_, range_.end}, target_->version);
  };
  const auto sink = [this](const HttpResponse& response, std::span<const std::uint8_t> bytes) {
    return take(response, bytes);
  };
  Status status = or_no_memory([&] {
    const Status performed = session->perform(
        make, sink, [this](const HttpOutcome& outcome) { return judge(outcome); }, stop_.get_token());
    if (performed.ok() || performed.code() == StatusCode::kCancelled) return performed;
    const std::string at = " (at byte " + std::to_string(range_.first + received_) + ")";
    return Status(performed.code(), performed.message() + at, {.path = target_->path});
  });
  const bool is_whole = status.ok();
  {
    MutexLock lock(mutex_);
    is_over_ = true;
    failure_ = std::move(status);
  }
  changed_.notify_all();
  if (is_whole) keep(session);
}

std::optional<Result<std::size_t>> RemotePart::try_read(std::uint8_t* data, std::size_t size, std::uint64_t offset) {
  const auto from = static_cast<std::size_t>(offset - range_.first);
  std::size_t n = 0;
  {
    MutexLock lock(mutex_);
    if (filled_ <= from) {
      if (!is_over_) return std::nullopt;
      return Result<std::size_t>(failure_);
    }
    n = std::min(size, filled_ - from);
  }
  std::memcpy(data, piece_.data.get() + from, n);  // what is filled does not change any more
  return Result<std::size_t>(n);
}

Result<std::size_t> RemotePart::read(std::uint8_t* data, std::size_t size, std::uint64_t offset) {
  const auto from = static_cast<std::size_t>(offset - range_.first);
  {
    MutexLock lock(mutex_);
    waited_for_ = from + std::min(size, wanted() - from);
    const auto is_there = [this]() HEADRACE_REQUIRES(mutex_) { return filled_ >= waited_for_ || is_over_; };
    while (!changed_.wait_for(mutex_, stop_.get_token(), kInterruptInterval, is_there)) {
      if (stop_.stop_requested() || interrupted()) return cancelled("stopped while waiting for a server");
    }
  }
  return *try_read(data, size, offset);
}

}  // namespace headrace
