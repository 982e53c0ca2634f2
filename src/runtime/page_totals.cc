#include "runtime/page_totals.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <set>
#include <utility>

#include "runtime/fork.h"
#include "runtime/mutex.h"
#include "runtime/page_report.h"

namespace headrace {
namespace {

// A child of fork() has one of its own: that of its parent may be locked for ever, and its pipelines run there.
struct Counted {
  const std::uint64_t generation = fork_generation();
  Mutex mutex;
  std::set<const StatusPage*> live HEADRACE_GUARDED_BY(mutex);
  ProcessTotals gone HEADRACE_GUARDED_BY(mutex);
};

Counted& counted() {
  static std::atomic<Counted*> current{nullptr};
  Counted* found = current.load();
  while (found == nullptr || found->generation != fork_generation()) {
    auto* const fresh = new Counted;
    if (current.compare_exchange_strong(found, fresh)) return *fresh;
    delete fresh;
  }
  return *found;
}

void add_stage(const StageReport& stage, std::vector<StageReport>* stages) {
  const auto same =
      std::find_if(stages->begin(), stages->end(), [&stage](const StageReport& s) { return s.name == stage.name; });
  if (same == stages->end()) {
    stages->push_back(stage);
    return;
  }
  same->busy_seconds += stage.busy_seconds;
  same->starved_seconds += stage.starved_seconds;
  same->blocked_seconds += stage.blocked_seconds;
  same->records += stage.records;
  same->bytes += stage.bytes;
}

void add(const StatusPage& page, ProcessTotals* totals) {
  const StatusWords& words = page.words();
  totals->batches += words.batches.load();
  totals->wait_seconds += static_cast<double>(words.waits.total_ns.load()) * 1e-9;
  for (const auto& [name, probe] : page.stages()) add_stage(stage_report(name, *probe), &totals->stages);
  const std::vector<WaitReport> waits = wait_reports(words.waits);
  if (totals->waits.empty()) {
    totals->waits = waits;
  } else {
    for (std::size_t i = 0; i < waits.size(); ++i) totals->waits[i].count += waits[i].count;
  }
}

}  // namespace

void count_page(const StatusPage* page) {
  Counted& all = counted();
  MutexLock lock(all.mutex);
  all.live.insert(page);
}

void discount_page(const StatusPage* page) {
  Counted& all = counted();
  MutexLock lock(all.mutex);
  if (all.live.erase(page) == 0) return;
  try {
    ProcessTotals sum = all.gone;
    add(*page, &sum);
    all.gone = std::move(sum);
  } catch (const std::bad_alloc&) {
    // The totals lack what this pipeline did; it ends nevertheless.
  }
}

ProcessTotals process_totals() {
  Counted& all = counted();
  MutexLock lock(all.mutex);
  ProcessTotals totals = all.gone;
  totals.open_pipelines = static_cast<std::int64_t>(all.live.size());
  for (const StatusPage* page : all.live) {
    add(*page, &totals);
    totals.record_bytes += page->words().record_bytes.load();
    totals.batch_bytes += page->words().batch_bytes.load();
  }
  return totals;
}

}  // namespace headrace
