#include <algorithm>
#include <string>

#include "base/wire.h"
#include "example/tensor_proto_fields.h"
#include "headrace/example.h"

namespace headrace {
namespace {

void append_varint(std::string* out, std::uint64_t value) {
  std::uint8_t buffer[10];
  const std::uint8_t* end = write_varint(buffer, value);
  out->append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(end - buffer));
}

void append_bytes(std::string* out, std::uint32_t number, std::string_view bytes) {
  append_varint(out, number << 3 | 2);
  append_varint(out, bytes.size());
  out->append(bytes);
}

void append_number(std::string* out, std::uint32_t number, std::uint64_t value) {
  append_varint(out, number << 3);
  append_varint(out, value);
}

}  // namespace

Result<std::string> make_tensor_proto(DType dtype, const Shape& shape, std::span<const std::uint8_t> data) {
  if (dtype == DType::kBytes) return invalid_argument("make_tensor_proto: dtype must be numeric, not bytes");
  auto size = static_cast<std::int64_t>(size_of(dtype));
  std::string dims;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0 || __builtin_mul_overflow(size, dimension, &size)) {
      return invalid_argument("make_tensor_proto: shape has dimension " + std::to_string(dimension));
    }
    std::string dim;
    if (dimension != 0) append_number(&dim, TensorFields::kDimSize, static_cast<std::uint64_t>(dimension));
    append_bytes(&dims, TensorFields::kDim, dim);
  }
  if (data.size() != static_cast<std::size_t>(size)) {
    return invalid_argument("make_tensor_proto: data has " + std::to_string(data.size()) + " bytes, shape and dtype " +
                            std::string(to_string(dtype)) + " need " + std::to_string(size));
  }
  if (dtype == DType::kBool && std::any_of(data.begin(), data.end(), [](std::uint8_t b) { return b > 1; })) {
    return invalid_argument("make_tensor_proto: data of dtype bool has bytes other than 0 and 1");
  }
  std::string out;
  out.reserve(data.size() + dims.size() + 32);
  append_number(&out, TensorFields::kDtype, tensorflow_number(dtype));
  append_bytes(&out, TensorFields::kShape, dims);
  if (!data.empty()) {
    append_bytes(&out, TensorFields::kContent, {reinterpret_cast<const char*>(data.data()), data.size()});
  }
  return out;
}

}  // namespace headrace
