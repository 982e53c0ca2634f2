#include "replica/plan.h"

#include <string>

namespace headrace {

std::vector<std::int64_t> split_rows(std::int64_t rows, int replicas) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(replicas), rows / replicas);
  const std::int64_t larger = rows % replicas;
  for (std::int64_t i = 0; i < larger; ++i) ++sizes[static_cast<std::size_t>(i)];
  return sizes;
}

Status check_global_batch(std::int64_t size, int replicas) {
  if (replicas < 1) return invalid_argument("replicas must be at least 1, got " + std::to_string(replicas));
  if (size < 1) return invalid_argument("batch size must be at least 1, got " + std::to_string(size));
  if (size % replicas == 0) return {};
  const std::int64_t below = size / replicas * replicas;
  const std::string above = std::to_string(below + replicas);
  return invalid_argument(
      "global batch of " + std::to_string(size) + " rows cannot be shared equally by " + std::to_string(replicas) +
      " replicas; the nearest sizes that work: " + (below > 0 ? std::to_string(below) + " and " + above : above));
}

}  // namespace headrace
