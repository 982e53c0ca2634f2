// Dataset::prefetch_to_device(): which devices get which rows of a batch.
#include <algorithm>
#include <optional>
#include <utility>

#include "headrace/dataset.h"
#include "pipeline/check_arguments.h"
#include "pipeline/dataset_builder.h"
#include "pipeline/op.h"
#include "replica/plan.h"

namespace headrace {
namespace {

// The feeds of CUDA devices run ahead of who reads them by depth + 2 batches, and positions are kept of the last 64.
constexpr int kMostDeviceDepth = 40;

std::vector<std::int64_t> batch_sizes(const std::shared_ptr<const Op>& last) {
  const Op* op = batching_op(last);
  if (op == nullptr) return {};
  if (const auto* bucket = std::get_if<BucketOp>(&op->arguments)) return bucket->options.sizes;
  return {std::get<BatchOp>(op->arguments).options.size};
}

Status check_weights(const std::vector<std::int64_t>& weights, std::size_t devices) {
  const std::string what = "prefetch_to_device(): weights";
  if (weights.size() != devices) {
    return invalid_argument(what + " has " + std::to_string(weights.size()) + " numbers for " +
                            std::to_string(devices) + " devices");
  }
  const auto bad = std::find_if(weights.begin(), weights.end(), [](std::int64_t w) { return w < 1 || w > 1000; });
  if (bad == weights.end()) return {};
  return invalid_argument(what + ": " + std::to_string(*bad) + " must be 1 to 1000");
}

Status check_local(const LocalDevices& local, std::size_t devices) {
  const auto all = static_cast<int>(devices);
  if (local.first >= 0 && local.count >= 1 && local.first < all && local.count <= all - local.first) return {};
  return invalid_argument("prefetch_to_device(): local: " + std::to_string(local.count) + " devices from " +
                          std::to_string(local.first) + " on are none of " + std::to_string(devices));
}

}  // namespace

Dataset Dataset::prefetch_to_device(const DeviceOptions& options) const {
  Status check = at_least("prefetch_to_device", "depth", options.depth, 1);
  std::vector<Device> devices;
  bool has_cuda = false;
  if (check.ok() && options.devices.empty()) check = invalid_argument("prefetch_to_device(): devices is empty");
  for (const std::string& name : options.devices) {
    if (!check.ok()) break;
    Result<Device> device = parse_device(name);
    if (!device.ok()) {
      check = device.status();
    } else {
      has_cuda |= device->kind == DeviceKind::kCuda;
      devices.push_back(std::move(*device));
    }
  }
  if (check.ok() && has_cuda && options.depth > kMostDeviceDepth) {
    check = invalid_argument("prefetch_to_device(): depth=" + std::to_string(options.depth) + " must be at most " +
                             std::to_string(kMostDeviceDepth) + " with CUDA devices");
  }
  DeviceOptions filled = options;
  if (filled.weights.empty()) filled.weights.assign(devices.size(), 1);
  if (check.ok()) check = check_weights(filled.weights, devices.size());
  for (const std::int64_t size : batch_sizes(op_)) {
    if (check.ok()) check = check_global_batch(size, filled.weights);
  }
  std::optional<Schema> parsed = parsed_schema(op_);
  if (parsed && options.remainder == Remainder::kPad && check.ok()) {
    parsed->mask = true;
    check = parsed->validate();
  }
  if (check.ok() && options.local) check = check_local(*options.local, devices.size());
  if (check.ok() && options.local && options.local->count < static_cast<int>(devices.size())) {
    check = check_one_order(op_, "prefetch_to_device() with local devices");
  }
  if (check.ok() && options.local) {
    devices = {devices.begin() + options.local->first, devices.begin() + options.local->first + options.local->count};
  }
  Dataset input = *this;
  if (is_batched(op_) && options.remainder == Remainder::kDrop) input.op_ = dropping_remainder(op_);
  return DatasetBuilder::extend(input, std::move(check), DeviceOp{std::move(filled), std::move(devices)});
}

}  // namespace headrace
