#include "device/device_feeds.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

Status closed() { return cancelled("the pipeline was closed"); }

}  // namespace

DeviceFeeds::DeviceFeeds(std::vector<DeviceTarget> targets, int depth, std::int64_t first_number, Feeds* queues,
                         StatusPage* page, std::stop_token stop)
    : depth_(depth),
      first_number_(first_number),
      queues_(queues),
      stop_(std::move(stop)),
      gathered_(targets.size()),
      targets_(std::move(targets)) {
  for (std::size_t r = 0; page != nullptr && r < gathered_.size(); ++r) waits_.emplace_back(page, static_cast<int>(r));
}

DeviceFeeds::~DeviceFeeds() { close(); }

bool DeviceFeeds::start() {
  MutexLock lock(mutex_);
  for (DeviceTarget& target : targets_) {
    const int replica = static_cast<int>(feeds_.size());
    feeds_.push_back(std::make_unique<DeviceFeed>(
        target.name, std::move(target.copier), depth_, first_number_,
        [this, replica](std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice) {
          return queues_->next_for(replica, timeout, slice);
        },
        stop_));
  }
  targets_.clear();
  return !feeds_.empty();
}

Wait DeviceFeeds::next_slice_for(int replica, std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice) {
  if (!start()) {
    *slice = closed();
    return Wait::kReady;
  }
  const auto place = static_cast<std::size_t>(replica);
  if (waits_.empty()) return feeds_[place]->next_for(timeout, slice);
  waits_[place].begin();
  const Wait outcome = feeds_[place]->next_for(timeout, slice);
  if (outcome == Wait::kReady) waits_[place].end(slice->ok() && (*slice)->has_value());
  return outcome;
}

Wait DeviceFeeds::next_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch) {
  if (!start()) {
    *batch = closed();
    return Wait::kReady;
  }
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (std::size_t r = 0; r < feeds_.size(); ++r) {
    if (gathered_[r]) continue;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    Result<std::optional<Slice>> slice = std::optional<Slice>();
    if (feeds_[r]->next_for(std::max(left, std::chrono::milliseconds(0)), &slice) == Wait::kTimeout) {
      return Wait::kTimeout;
    }
    if (!slice.ok() || !*slice) {
      gathered_.assign(feeds_.size(), std::nullopt);
      if (slice.ok()) {
        *batch = std::optional<Batch>();
      } else {
        *batch = slice.status();
      }
      return Wait::kReady;
    }
    gathered_[r] = std::move(*slice);
  }
  Batch whole;
  whole.number = gathered_[0]->batch_number;
  whole.epoch = gathered_[0]->epoch;
  for (std::optional<Slice>& slice : gathered_) {
    whole.global_rows += slice->rows;
    whole.replicas.push_back(std::move(*slice));
    slice.reset();
  }
  *batch = std::optional<Batch>(std::move(whole));
  return Wait::kReady;
}

std::int64_t DeviceFeeds::next_number() const {
  MutexLock lock(mutex_);
  std::int64_t least = first_number_;
  for (std::size_t r = 0; r < feeds_.size(); ++r) {
    const std::int64_t number = feeds_[r]->next_number();
    least = r == 0 ? number : std::min(least, number);
  }
  return least;
}

void DeviceFeeds::close() {
  MutexLock lock(mutex_);
  targets_.clear();  // who comes now finds no feeds
  for (const auto& feed : feeds_) feed->join();
}

}  // namespace headrace
