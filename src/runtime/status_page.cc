#include "runtime/status_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "runtime/page_totals.h"
#include "runtime/run_folder.h"
#include "runtime/trace_log.h"

namespace headrace {
namespace {

constexpr std::int64_t kFirstLimitNs = 50'000;
constexpr std::size_t kPageBytes = 4096;

template <std::size_t Size>
void copy_name(std::string_view name, std::array<char, Size>* to) {
  const std::size_t length = std::min(name.size(), Size - 1);
  std::copy_n(name.data(), length, to->data());
  (*to)[length] = 0;
}

// Mapped memory of a new file; null, and no file, when it cannot be made.
void* map_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return nullptr;
  // The page is there before anything is written to it: a full file system is met here, not as SIGBUS.
  void* memory = MAP_FAILED;
  if (::posix_fallocate(descriptor, 0, kPageBytes) == 0) {
    memory = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  ::close(descriptor);
  if (memory != MAP_FAILED) return memory;
  ::unlink(path.c_str());
  return nullptr;
}

std::string new_path(const std::string& folder, std::int64_t start) {
  static std::atomic<std::int64_t> number{0};
  return folder + "/" + std::to_string(::getpid()) + "-" + std::to_string(start) + "-" +
         std::to_string(number.fetch_add(1)) + ".status";
}

}  // namespace

std::array<std::int64_t, WaitHistogram::kBuckets - 1> wait_limits_ns() {
  std::array<std::int64_t, WaitHistogram::kBuckets - 1> limits{};
  for (std::size_t i = 0; i < limits.size(); ++i) limits[i] = kFirstLimitNs << i;
  return limits;
}

void WaitHistogram::add(std::int64_t wait_ns) {
  std::size_t bucket = 0;
  while (bucket + 1 < kBuckets && wait_ns > kFirstLimitNs << bucket) ++bucket;
  counts[bucket].fetch_add(1, std::memory_order_relaxed);
  total_ns.fetch_add(wait_ns, std::memory_order_relaxed);
}

StatusPage::StatusPage(const std::string& folder, std::string_view name, int threads, int replicas) {
  const std::optional<std::int64_t> start = process_start(::getpid());
  void* memory = nullptr;
  if (!folder.empty() && start) {
    path_ = new_path(folder, *start);
    memory = map_file(path_);
    if (memory == nullptr) path_.clear();
  }
  if (memory == nullptr) memory = ::operator new(kPageBytes);
  words_ = new (memory) StatusWords;
  words_->process = ::getpid();
  words_->process_start = start.value_or(0);
  words_->opened_ns = now_ns();
  words_->threads = threads;
  words_->replicas = replicas;
  copy_name(name, &words_->name);
  try {
    count_page(this);
  } catch (const std::bad_alloc&) {
    if (!path_.empty()) ::unlink(path_.c_str());
    free_words();
    throw;
  }
}

StatusPage::~StatusPage() {
  hide();
  free_words();
}

void StatusPage::free_words() {
  if (path_.empty()) {
    ::operator delete(words_);
  } else {
    ::munmap(words_, kPageBytes);
  }
}

void StatusPage::hide() {
  if (birth_.is_parent()) return;
  {
    MutexLock lock(mutex_);
    if (std::exchange(is_hidden_, true)) return;
  }
  discount_page(this);
  if (!path_.empty()) ::unlink(path_.c_str());
}

StageProbe* StatusPage::add_stage(std::string_view name) {
  MutexLock lock(mutex_);
  const std::uint32_t count = words_->stages.load(std::memory_order_relaxed);
  StageSlot& slot = count < StatusWords::kStages ? words_->stage[count] : more_.emplace_back();
  copy_name(name, &slot.name);
  if (count < StatusWords::kStages) words_->stages.store(count + 1, std::memory_order_release);
  return &slot.probe;
}

std::vector<StatusPage::NamedProbe> StatusPage::stages() const {
  MutexLock lock(mutex_);
  std::vector<NamedProbe> stages;
  const std::uint32_t count = words_->stages.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) stages.push_back({words_->stage[i].name.data(), &words_->stage[i].probe});
  for (const StageSlot& slot : more_) stages.push_back({slot.name.data(), &slot.probe});
  return stages;
}

WaitMeter::WaitMeter(StatusPage* page, int replica)
    : page_(page),
      slot_(static_cast<std::size_t>(replica) < StatusWords::kReplicas
                ? &page->words().replica[static_cast<std::size_t>(replica)]
                : nullptr) {}

void WaitMeter::begin() {
  if (since_ns_ != 0) return;
  since_ns_ = now_ns();
  if (slot_ != nullptr) slot_->waiting_since_ns.store(since_ns_, std::memory_order_relaxed);
}

void WaitMeter::end(bool is_batch) {
  const std::int64_t end_ns = now_ns();
  const std::int64_t wait_ns = end_ns - since_ns_;
  if (is_batch && !works_ahead()) trace_span({kWaitSpan, -1, system_thread(), since_ns_, end_ns});
  since_ns_ = 0;
  if (slot_ != nullptr) slot_->waiting_since_ns.store(0, std::memory_order_relaxed);
  if (!is_batch) return;
  page_->words().waits.add(wait_ns);
  if (slot_ == nullptr) return;
  slot_->wait_ns.fetch_add(wait_ns, std::memory_order_relaxed);
  slot_->batches.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace headrace
