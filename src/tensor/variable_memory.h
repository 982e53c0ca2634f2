// VariableMemory: where the arrays of one variable column of one slice lie. Filled by VariableColumns, written in phase 2.
// The keys of a jagged column share one memory, each with a part of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/open_shape.h"

namespace headrace {

struct VariableMemory {
  std::uint8_t* values = nullptr;   ///< elements, or headers and payload
  std::uint8_t* offsets = nullptr;  ///< bytes columns: int64 [elements + 1]
  std::int64_t elements = 0;
  std::int64_t longest = 0;           ///< kSequence: steps
  OpenLayout open;                    ///< kOpen
  std::vector<std::int64_t*> splits;  ///< one per ragged dimension, outermost first
  std::int64_t* indices = nullptr;    ///< kSparse: int64 [elements, 1 + sparse dimensions]
  // Of one key of a jagged column; `splits` and `lengths` are at its first row.
  std::int64_t* lengths = nullptr;
  std::int64_t elements_before = 0;  ///< of the keys before it
  std::int64_t payload_before = 0;   ///< the same for the payload of strings
};

}  // namespace headrace
