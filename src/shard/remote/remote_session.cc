#include "shard/remote/remote_session.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <utility>

#include "headrace/no_memory.h"
#include "runtime/interrupt.h"
#include "shard/remote/backoff.h"
#include "shard/remote/range_request.h"

namespace headrace {
namespace {

constexpr int kMostAgain = 1000;

std::uint64_t draw_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

Status stopped() { return cancelled("stopped while waiting for a server"); }

}  // namespace

bool pause_for(std::chrono::milliseconds pause, const std::stop_token& stop) {
  Mutex mutex;
  CondVar changed;
  const auto end = std::chrono::steady_clock::now() + pause;
  while (!stop.stop_requested() && !interrupted()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    MutexLock lock(mutex);
    changed.wait_for(mutex, stop, std::min(left, kInterruptInterval), [] { return false; });
  }
  return false;
}

RemoteSession::RemoteSession(const RemoteOptions& options, const RemoteLimits& limits, std::unique_ptr<PartCache> cache,
                             const std::stop_token& stop)
    : limits_(limits),
      memory_(std::make_shared<PartMemory>(options.read_ahead_bytes)),
      cache_(std::move(cache)),
      warnings_(options.warnings),
      stop_with_owner_(stop, [this] { stop_.request_stop(); }),
      network_(WorkerPool::shared_network(), WorkerPool::shared_network()->threads()) {}

RemoteSession::~RemoteSession() {
  stop_.request_stop();
  network_.close();
}

std::unique_ptr<HttpConnection> RemoteSession::take_connection() {
  {
    MutexLock lock(mutex_);
    if (!connections_.empty()) {
      auto connection = std::move(connections_.back());
      connections_.pop_back();
      return connection;
    }
  }
  return std::make_unique<HttpConnection>(limits_.timeout);
}

void RemoteSession::give_connection(std::unique_ptr<HttpConnection> connection) {
  MutexLock lock(mutex_);
  connections_.push_back(std::move(connection));
}

Status RemoteSession::perform(const MakeRequest& make, const HttpSink& sink,
                              const std::function<Judgement(const HttpOutcome&)>& judge, const std::stop_token& stop) {
  Backoff backoff(limits_.attempts, draw_seed());
  for (int again = 0; again < kMostAgain;) {
    if (stop.stop_requested()) return stopped();
    HEADRACE_ASSIGN_OR_RETURN(const HttpRequest request, make());
    auto connection = take_connection();
    const HttpOutcome outcome = connection->perform(request, sink, stop);
    give_connection(std::move(connection));
    if (outcome.kind == HttpOutcome::Kind::kStopped) return stopped();
    const Judgement judgement = judge(outcome);
    switch (judgement.kind) {
      case Judgement::Kind::kDone:
        return {};
      case Judgement::Kind::kFailed:
        return judgement.failure;
      case Judgement::Kind::kAgain:
        ++again;
        backoff.progress();
        break;
      case Judgement::Kind::kRetry: {
        const auto pause = backoff.next(judgement.asked_pause);
        if (!pause) {
          return {judgement.failure.code(),
                  judgement.failure.message() + " (after " + std::to_string(backoff.failed()) + " attempts)",
                  judgement.failure.where()};
        }
        if (!pause_for(*pause, stop)) return stopped();
        break;
      }
    }
  }
  return {StatusCode::kIo, "the server breaks off again and again"};
}

Result<HttpAnswer> RemoteSession::ask(const MakeRequest& make, std::size_t most_bytes, Tries tries) {
  HttpAnswer answer;
  bool is_too_large = false;
  const auto sink = [&](const HttpResponse&, std::span<const std::uint8_t> bytes) {
    is_too_large = answer.body.size() + bytes.size() > most_bytes;
    if (!is_too_large) answer.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return !is_too_large;
  };
  const auto judge = [&](const HttpOutcome& outcome) -> Judgement {
    if (is_too_large) {
      return {Judgement::Kind::kFailed,
              {StatusCode::kIo, "the server's answer is larger than " + std::to_string(most_bytes) + " bytes"}};
    }
    const int status = outcome.response.status;
    if (outcome.kind == HttpOutcome::Kind::kFailed) {
      answer.body.clear();
      const auto kind = outcome.may_retry && tries == Tries::kMany ? Judgement::Kind::kRetry : Judgement::Kind::kFailed;
      return {kind, {StatusCode::kIo, outcome.failure}};
    }
    if ((status == 429 || status >= 500) && tries == Tries::kMany) {
      answer.body.clear();
      return {Judgement::Kind::kRetry,
              {StatusCode::kIo, "the server answers " + std::to_string(status)},
              retry_after(outcome.response)};
    }
    answer.response = outcome.response;
    return {};
  };
  HEADRACE_RETURN_IF_ERROR(perform(make, sink, judge, stop_token()));
  return answer;
}

Status RemoteSession::for_each(std::size_t count, const std::function<void(std::size_t)>& run) {
  // Shared with tasks that are still waiting for a thread when this call was interrupted.
  struct Work {
    std::function<void(std::size_t)> run;
    std::size_t count = 0;
    std::atomic<std::size_t> next{0};
    Mutex mutex;
    CondVar changed;
    std::size_t running HEADRACE_GUARDED_BY(mutex) = 0;
    bool is_over HEADRACE_GUARDED_BY(mutex) = false;
    Status failure HEADRACE_GUARDED_BY(mutex);
  };
  const auto work = std::make_shared<Work>();
  work->run = run;
  work->count = count;
  const auto tasks = std::min<std::size_t>(count, static_cast<std::size_t>(WorkerPool::shared_network()->threads()));
  {
    MutexLock lock(work->mutex);
    work->running = tasks;
  }
  for (std::size_t task = 0; task < tasks; ++task) {
    submit(task, [work, stop = stop_token()] {
      const Status done = or_no_memory([&]() -> Status {
        for (std::size_t i = work->next++; i < work->count && !stop.stop_requested(); i = work->next++) {
          {
            MutexLock lock(work->mutex);
            if (work->is_over) break;
          }
          work->run(i);
        }
        return {};
      });
      MutexLock lock(work->mutex);
      if (!done.ok()) work->failure = done;
      --work->running;
      work->changed.notify_all();
    });
  }
  MutexLock lock(work->mutex);
  while (work->running > 0 && !stop_.stop_requested()) {
    const bool is_done =
        work->changed.wait_for(work->mutex, stop_.get_token(), kInterruptInterval,
                               [&work]() HEADRACE_REQUIRES(work->mutex) { return work->running == 0; });
    if (!is_done && interrupted()) stop_.request_stop();
  }
  work->is_over = true;
  // `run` may refer to what goes away with this call.
  work->changed.wait(work->mutex, std::stop_token(),
                     [&work]() HEADRACE_REQUIRES(work->mutex) { return work->running == 0; });
  return stop_.stop_requested() ? stopped() : work->failure;
}

}  // namespace headrace
