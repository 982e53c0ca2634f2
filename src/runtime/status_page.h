// StatusPage: the counters of one pipeline, in memory that other processes of the user can look at.
//
// The page is a file in the run-time folder, mapped, so that showing it costs the pipeline nothing; where there is no such
// folder it is memory of this process alone. The file is there until hide(), or as long as the page. docs/formats/status_page.md tells the layout.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/fork.h"
#include "runtime/mutex.h"
#include "runtime/probe.h"

namespace headrace {

/// How long calls of next() lasted. Bucket i: at most wait_limits_ns()[i]; the last one: longer than all limits.
struct WaitHistogram {
  static constexpr std::size_t kBuckets = 16;
  std::array<std::atomic<std::int64_t>, kBuckets> counts{};
  std::atomic<std::int64_t> total_ns{0};

  void add(std::int64_t wait_ns);
};

/// 50 us, 100 us, 200 us, … 819.2 ms.
std::array<std::int64_t, WaitHistogram::kBuckets - 1> wait_limits_ns();

struct StageSlot {
  std::array<char, 48> name{};  ///< ends with 0
  StageProbe probe;
};

struct ReplicaSlot {
  std::atomic<std::int64_t> batches{0};
  std::atomic<std::int64_t> wait_ns{0};
  std::atomic<std::int64_t> waiting_since_ns{0};  ///< of CLOCK_MONOTONIC; 0: it does not wait
};

/// What lies in the file, in the byte order of the machine. Whoever reads it has to expect any bytes.
struct StatusWords {
  static constexpr std::array<char, 8> kMagic = {'H', 'R', 'S', 'T', 'A', 'T', 'U', 'S'};
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::size_t kStages = 20;
  static constexpr std::size_t kReplicas = 32;

  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::int32_t process = 0;
  std::int64_t process_start = 0;  ///< field 22 of /proc/PID/stat: tells processes of one number apart
  std::int64_t opened_ns = 0;      ///< of CLOCK_MONOTONIC
  std::int32_t threads = 0;
  std::int32_t replicas = 0;
  std::atomic<std::uint32_t> stages{0};
  std::uint32_t reserved = 0;
  std::atomic<std::int64_t> batches{0};  ///< handed over, whole ones
  std::atomic<std::int64_t> epoch{0};
  std::atomic<std::int64_t> record_bytes{0};  ///< these two as they were at the last batch
  std::atomic<std::int64_t> batch_bytes{0};
  std::array<char, 256> name{};  ///< of the data set; ends with 0
  WaitHistogram waits;           ///< of all replicas
  std::array<ReplicaSlot, kReplicas> replica{};
  std::array<StageSlot, kStages> stage{};
};
static_assert(sizeof(StatusWords) <= 4096);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

class StatusPage {
 public:
  /// In `folder`, or in memory alone when it is empty or cannot be written. `name` is shown; what is too long is cut off.
  StatusPage(const std::string& folder, std::string_view name, int threads, int replicas);
  ~StatusPage();
  StatusPage(const StatusPage&) = delete;
  StatusPage& operator=(const StatusPage&) = delete;

  /// Nobody sees it any more; the counters can still be read. Idempotent. In a child of the process that made it: nothing.
  void hide() HEADRACE_EXCLUDES(mutex_);
  /// A new stage, in flow order. It stays where it is; those beyond kStages are not in the file.
  StageProbe* add_stage(std::string_view name) HEADRACE_EXCLUDES(mutex_);
  StatusWords& words() { return *words_; }
  const StatusWords& words() const { return *words_; }

  struct NamedProbe {
    std::string name;
    const StageProbe* probe;
  };
  /// All stages, in flow order.
  std::vector<NamedProbe> stages() const HEADRACE_EXCLUDES(mutex_);
  /// Where it lies; empty: in memory alone.
  const std::string& path() const { return path_; }

 private:
  void free_words();

  const BirthProcess birth_;
  std::string path_;
  StatusWords* words_ = nullptr;  // mapped, if there is a path

  mutable Mutex mutex_;
  bool is_hidden_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::deque<StageSlot> more_ HEADRACE_GUARDED_BY(mutex_);  // probes cannot be moved
};

/// Measures calls of next(), which may come in several pieces, for one replica. One caller at a time.
class WaitMeter {
 public:
  WaitMeter(StatusPage* page, int replica);
  /// Somebody asks for the next batch.
  void begin();
  /// … and has it; false: there is none.
  void end(bool is_batch);

 private:
  StatusPage* const page_;
  ReplicaSlot* const slot_;  // null: there are more replicas than the page has room for
  std::int64_t since_ns_ = 0;
};

}  // namespace headrace
