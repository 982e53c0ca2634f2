#include "headrace/types.h"

#include <array>

namespace headrace {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t size;
};
constexpr std::array<Row, 21> kRows = {{{DType::kBool, "bool", 1},
                                        {DType::kInt8, "int8", 1},
                                        {DType::kInt16, "int16", 2},
                                        {DType::kInt32, "int32", 4},
                                        {DType::kInt64, "int64", 8},
                                        {DType::kUint8, "uint8", 1},
                                        {DType::kUint16, "uint16", 2},
                                        {DType::kUint32, "uint32", 4},
                                        {DType::kUint64, "uint64", 8},
                                        {DType::kFloat16, "float16", 2},
                                        {DType::kBfloat16, "bfloat16", 2},
                                        {DType::kFloat32, "float32", 4},
                                        {DType::kFloat64, "float64", 8},
                                        {DType::kComplex64, "complex64", 8},
                                        {DType::kComplex128, "complex128", 16},
                                        {DType::kBytes, "bytes", 24},
                                        {DType::kFloat8E5m2, "float8_e5m2", 1},
                                        {DType::kFloat8E4m3fn, "float8_e4m3fn", 1},
                                        {DType::kFloat8E4m3fnuz, "float8_e4m3fnuz", 1},
                                        {DType::kFloat8E4m3b11fnuz, "float8_e4m3b11fnuz", 1},
                                        {DType::kFloat8E5m2fnuz, "float8_e5m2fnuz", 1}}};

const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype) - 1]; }

}  // namespace

std::size_t size_of(DType dtype) { return row(dtype).size; }

std::string_view to_string(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_string(std::string_view name) {
  if (name == "string") return DType::kBytes;
  for (const Row& r : kRows) {
    if (r.name == name) return r.dtype;
  }
  return std::nullopt;
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dimension : shape) product *= dimension;
  return product;
}

}  // namespace headrace
