// Elements in the other byte order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "headrace/types.h"

namespace headrace {

/// Copies `bytes` (whole elements of `dtype`), the bytes of each element reversed; each half of a complex number by itself.
/// Types of one byte are copied as they are. `to` may be `from`, otherwise they do not overlap.
void copy_swapped(DType dtype, std::uint8_t* to, const std::uint8_t* from, std::size_t bytes);

}  // namespace headrace
