// RemotePart: a piece of a remote object that is being fetched, readable while it comes.
//
// fetch() runs once, on a network thread: it asks for the piece, goes on behind what it has when the connection breaks, and
// checks that it is still the same object. With a cache, it looks there first and keeps there what it got. All other calls are one reader's. Bytes before a failure are delivered first.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "runtime/mutex.h"
#include "shard/remote/remote_session.h"
#include "shard/remote/remote_target.h"

namespace headrace {

class RemotePart {
 public:
  /// `memory` has room for `range`; `stop` is the session's.
  RemotePart(std::shared_ptr<const RemoteTarget> target, ByteRange range, std::shared_ptr<PartMemory> memory,
             PartMemory::Piece piece, const std::stop_token& stop);
  ~RemotePart();
  RemotePart(const RemotePart&) = delete;
  RemotePart& operator=(const RemotePart&) = delete;

  std::uint64_t begin() const { return range_.first; }
  std::uint64_t end() const { return range_.end; }

  void fetch(RemoteSession* session) HEADRACE_EXCLUDES(mutex_);
  /// Up to `size` bytes at `offset`, which lies inside; fewer only at the part's end or just before a failure. Waits for them.
  Result<std::size_t> read(std::uint8_t* data, std::size_t size, std::uint64_t offset) HEADRACE_EXCLUDES(mutex_);
  /// The same without waiting; nothing when not even one byte is there.
  std::optional<Result<std::size_t>> try_read(std::uint8_t* data, std::size_t size, std::uint64_t offset)
      HEADRACE_EXCLUDES(mutex_);
  /// Nobody reads it any more.
  void abandon() { stop_.request_stop(); }

 private:
  bool take(const HttpResponse& response, std::span<const std::uint8_t> bytes);
  bool check_head(const HttpResponse& response);
  Judgement judge(const HttpOutcome& outcome);
  bool take_from_cache(PartCache* cache);
  void keep(RemoteSession* session);
  std::string cache_name() const;
  std::size_t wanted() const { return static_cast<std::size_t>(range_.end - range_.first); }

  // constant after construction
  const std::shared_ptr<const RemoteTarget> target_;
  const ByteRange range_;
  const std::shared_ptr<PartMemory> memory_;
  PartMemory::Piece piece_;

  // own synchronisation
  std::stop_source stop_;
  const std::stop_callback<std::function<void()>> stop_with_session_;

  // the network thread's: of the answer that is being received
  bool head_checked_ = false;
  std::uint64_t skip_ = 0;  // bytes in front of the ones that are wanted
  Status wrong_head_;
  std::string error_body_;
  std::size_t received_ = 0;
  std::size_t received_before_ = 0;  // the current attempt

  mutable Mutex mutex_;
  CondVar changed_;
  std::size_t filled_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::size_t waited_for_ HEADRACE_GUARDED_BY(mutex_) = 0;  // bytes that the reader wants to be there
  bool is_over_ HEADRACE_GUARDED_BY(mutex_) = false;
  Status failure_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace
