// How the rows of a global batch are shared among the replicas. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headrace/status.h"

namespace headrace {

struct ReplicaPlan {
  /// One per replica, each >= 1: rows are shared out in this proportion.
  std::vector<std::int64_t> weights{1};
  /// A batch that is smaller than the others is made up to their size by rows of its own.
  bool pads = false;
  /// Replicas of this process: so many from `first` on; nothing: all. The rows of others are not parsed.
  std::size_t first = 0;
  std::optional<std::size_t> local = std::nullopt;

  std::size_t count() const { return local.value_or(weights.size()); }
};

/// Rows of each replica: its share by weight, rounded down, and one more for those that lack the largest part of a row, the
/// first of equals. So shares of equal weight differ by at most one, larger first; replicas may get 0. `rows` >= 0.
std::vector<std::int64_t> split_rows(std::int64_t rows, std::span<const std::int64_t> weights);

/// Rows of a batch of `records` that stand before those of this process; the first slice here has `first_rows`, padding included.
std::int64_t rows_before(const ReplicaPlan& plan, std::int64_t records, std::int64_t first_rows);

/// Ok when every replica gets exactly its share; else kInvalidArgument naming the two nearest sizes that work.
Status check_global_batch(std::int64_t size, std::span<const std::int64_t> weights);

}  // namespace headrace
