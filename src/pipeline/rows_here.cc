#include "pipeline/rows_here.h"

#include <algorithm>
#include <numeric>

namespace headrace {

RowsHere::RowsHere(const ReplicaPlan& plan, std::int64_t records, std::int64_t full_rows) : records_(records) {
  const std::vector<std::int64_t> shares = split_rows(plan.pads ? full_rows : records, plan.weights);
  const auto begin = shares.begin() + static_cast<std::ptrdiff_t>(plan.first);
  replica_rows_.assign(begin, begin + static_cast<std::ptrdiff_t>(plan.count()));
  first_ = std::accumulate(shares.begin(), begin, std::int64_t{0});
  size_ = std::accumulate(replica_rows_.begin(), replica_rows_.end(), std::int64_t{0});
}

std::int64_t RowsHere::not_padding() const { return std::clamp(records_ - first_, std::int64_t{0}, size_); }

}  // namespace headrace
