// What is known of each row of a batch, for the rows that make it up to its full size, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace {

/// Appends `count` elements: those of `values` from the first on, again and again. Nothing when there are none.
template <class T>
void repeat_rows(std::int64_t count, std::vector<T>* values) {
  const std::size_t rows = values->size();
  if (rows == 0) return;
  values->reserve(rows + static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) values->push_back((*values)[i % rows]);
}

}  // namespace headrace
