// Element types and shapes of tensors. Values; no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headrace {

/// The numbers are stable: they are part of saved specs and of the C interface of the TensorFlow op.
enum class DType : std::uint8_t {
  kBool = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUint8 = 6,
  kUint16 = 7,
  kUint32 = 8,
  kUint64 = 9,
  kFloat16 = 10,
  kBfloat16 = 11,
  kFloat32 = 12,
  kFloat64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBytes = 16,  ///< variable-length byte strings (TensorFlow's tf.string)
};

/// Bytes of one element; 24 (a string header) for kBytes.
std::size_t size_of(DType dtype);
/// NumPy's name: "float32", "bool", …; "bytes" for kBytes.
std::string_view to_string(DType dtype);
/// The reverse; also takes "string" for kBytes.
std::optional<DType> dtype_from_string(std::string_view name);

/// Dimensions, outermost first; -1 = unknown, only where a contract says so.
using Shape = std::vector<std::int64_t>;

/// Product of the dimensions; 1 for a scalar. All must be >= 0 and the product must fit (checked where shapes enter).
std::int64_t element_count(const Shape& shape);

}  // namespace headrace
