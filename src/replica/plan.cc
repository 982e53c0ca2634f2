#include "replica/plan.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace headrace {
namespace {

// Products of rows and weights stay in range: both are bounded by what a batch and a caller's list can be.
std::int64_t total(std::span<const std::int64_t> weights) {
  return std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
}

}  // namespace

std::vector<std::int64_t> split_rows(std::int64_t rows, std::span<const std::int64_t> weights) {
  const std::int64_t all = total(weights);
  std::vector<std::int64_t> sizes;
  sizes.reserve(weights.size());
  for (const std::int64_t weight : weights) sizes.push_back(rows / all * weight + rows % all * weight / all);
  const std::int64_t left = rows - total(sizes);
  if (left == 0) return sizes;
  std::vector<std::size_t> by_lack(weights.size());
  std::iota(by_lack.begin(), by_lack.end(), std::size_t{0});
  std::stable_sort(by_lack.begin(), by_lack.end(), [&](std::size_t a, std::size_t b) {
    return rows % all * weights[a] % all > rows % all * weights[b] % all;
  });
  for (std::int64_t i = 0; i < left; ++i) ++sizes[by_lack[static_cast<std::size_t>(i)]];
  return sizes;
}

std::int64_t rows_before(const ReplicaPlan& plan, std::int64_t records, std::int64_t first_rows) {
  if (plan.first == 0) return 0;
  const std::span<const std::int64_t> before = std::span(plan.weights).first(plan.first);
  // With padding all shares are whole.
  if (plan.pads) return first_rows / plan.weights[plan.first] * total(before);
  return total(std::span<const std::int64_t>(split_rows(records, plan.weights)).first(plan.first));
}

Status check_global_batch(std::int64_t size, std::span<const std::int64_t> weights) {
  if (weights.empty()) return invalid_argument("replicas must be at least 1, got 0");
  if (size < 1) return invalid_argument("batch size must be at least 1, got " + std::to_string(size));
  const auto common = std::accumulate(weights.begin(), weights.end(), std::int64_t{0},
                                      [](std::int64_t a, std::int64_t b) { return std::gcd(a, b); });
  const std::int64_t unit = total(weights) / common;
  if (size % unit == 0) return {};
  const std::int64_t below = size / unit * unit;
  const std::string above = std::to_string(below + unit);
  return invalid_argument("global batch of " + std::to_string(size) + " rows cannot be shared " +
                          (unit == std::ssize(weights) ? "equally" : "in proportion to their weights") + " by " +
                          std::to_string(weights.size()) + " replicas; the nearest sizes that work: " +
                          (below > 0 ? std::to_string(below) + " and " + above : above));
}

}  // namespace headrace
