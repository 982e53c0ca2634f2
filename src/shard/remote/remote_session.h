// RemoteSession: what all remote files of one pipeline share: connections, threads, memory for reading ahead, rules for
// trying again. All calls may be concurrent; they end at once when the stop token says so, or the host program (interrupt.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/mutex.h"
#include "runtime/worker_pool.h"
#include "shard/remote.h"
#include "shard/remote/http_connection.h"
#include "shard/remote/part_cache.h"
#include "shard/remote/part_memory.h"

namespace headrace {

struct RemoteLimits {
  std::chrono::seconds timeout{30};
  int attempts = 8;
};

/// What to do after one attempt.
struct Judgement {
  enum class Kind : std::uint8_t {
    kDone = 1,
    kAgain,  ///< at once: something came, or was learned
    kRetry,  ///< after a while; `failure` says why
    kFailed,
  };
  Kind kind = Kind::kDone;
  Status failure;
  std::optional<std::chrono::milliseconds> asked_pause;  ///< by the server, with kRetry
};

/// An answer that is wanted as a whole.
struct HttpAnswer {
  HttpResponse response;
  std::string body;
};

class RemoteSession {
 public:
  using MakeRequest = std::function<Result<HttpRequest>()>;

  /// `cache` may be null.
  RemoteSession(const RemoteOptions& options, const RemoteLimits& limits, std::unique_ptr<PartCache> cache,
                const std::stop_token& stop);
  ~RemoteSession();

  /// Tries until `judge` has seen enough. kCancelled when it was stopped; kIo, with its path, when there were too many attempts.
  Status perform(const MakeRequest& make, const HttpSink& sink,
                 const std::function<Judgement(const HttpOutcome&)>& judge, const std::stop_token& stop);
  /// The answer to one request of bounded size, whatever its status; tried again when none came, or 429, or 5xx.
  enum class Tries : std::uint8_t { kOne = 1, kMany };
  Result<HttpAnswer> ask(const MakeRequest& make, std::size_t most_bytes, Tries tries = Tries::kMany);

  /// Runs `run` on a network thread; dropped when the session ends.
  void submit(TaskPriority priority, std::function<void()> run) { network_.submit(priority, std::move(run)); }
  /// Runs `run` for 0 … count - 1 on network threads, and waits. Stopped: some are left out, and the outcome is kCancelled.
  Status for_each(std::size_t count, const std::function<void(std::size_t)>& run);

  const std::shared_ptr<PartMemory>& memory() const { return memory_; }
  PartCache* cache() const { return cache_.get(); }
  void warn(const std::string& cause, std::string text) const {
    if (warnings_ != nullptr) warnings_->add(cause, std::move(text));
  }
  std::stop_token stop_token() const { return stop_.get_token(); }

 private:
  std::unique_ptr<HttpConnection> take_connection() HEADRACE_EXCLUDES(mutex_);
  void give_connection(std::unique_ptr<HttpConnection> connection) HEADRACE_EXCLUDES(mutex_);

  // constant after construction
  const RemoteLimits limits_;
  const std::shared_ptr<PartMemory> memory_;
  const std::unique_ptr<PartCache> cache_;
  const std::shared_ptr<WarningLog> warnings_;

  // own synchronisation
  std::stop_source stop_;
  const std::stop_callback<std::function<void()>> stop_with_owner_;

  Mutex mutex_;
  // The one that was used last is the next one: it is the most likely to be still open.
  std::vector<std::unique_ptr<HttpConnection>> connections_ HEADRACE_GUARDED_BY(mutex_);
  TaskGroup network_;  // ends first
};

/// Waits for `pause`; false when it was stopped.
bool pause_for(std::chrono::milliseconds pause, const std::stop_token& stop);

}  // namespace headrace
