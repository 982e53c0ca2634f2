// RowsHere: which rows of a batch this process parses, and what they are made of. All of them, unless other processes have replicas
// of their own; with padding also rows that repeat the records of the batch, from the first on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replica/plan.h"

namespace headrace {

class RowsHere {
 public:
  /// Of a batch of `records` records, which would have been `full_rows` if these had not ended.
  RowsHere(const ReplicaPlan& plan, std::int64_t records, std::int64_t full_rows);

  std::int64_t size() const { return size_; }
  /// Rows of each replica of this process.
  const std::vector<std::int64_t>& replica_rows() const { return replica_rows_; }
  /// Of the rows, the first ones, which are no padding.
  std::int64_t not_padding() const;
  /// The place in the batch of the record that row `row` is made of.
  std::int64_t record_of(std::int64_t row) const { return (first_ + row) % records_; }

  /// Of what is known of each record of the batch, and perhaps of some behind these, that of each row.
  template <class T>
  std::vector<T> pick(std::vector<T> of_records) const {
    if (first_ == 0 && size_ == records_ && size_ == static_cast<std::int64_t>(of_records.size())) return of_records;
    std::vector<T> of_rows;
    of_rows.reserve(static_cast<std::size_t>(size_));
    for (std::int64_t row = 0; row < size_; ++row) {
      of_rows.push_back(of_records[static_cast<std::size_t>(record_of(row))]);
    }
    return of_rows;
  }

 private:
  const std::int64_t records_;
  std::vector<std::int64_t> replica_rows_;
  std::int64_t first_ = 0;  // of the global batch
  std::int64_t size_ = 0;
};

}  // namespace headrace
