// How the rows of a global batch are shared among the replicas. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "headrace/status.h"

namespace headrace {

/// Rows of each replica: sizes differ by at most one, larger first; replicas may get 0. `rows` >= 0, `replicas` >= 1.
std::vector<std::int64_t> split_rows(std::int64_t rows, int replicas);

/// Ok when every replica gets the same number of rows; else kInvalidArgument naming the two nearest sizes that work.
Status check_global_batch(std::int64_t size, int replicas);

}  // namespace headrace
