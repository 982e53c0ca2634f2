#include "example/tensor_proto_varints.h"

#include <algorithm>

namespace headrace {
namespace {

template <class T>
bool store_in_range(const std::int64_t* values, std::size_t count, std::uint8_t* out) {
  std::int64_t lost = 0;
  for (std::size_t i = 0; i < count; ++i) lost |= values[i] ^ static_cast<std::int64_t>(static_cast<T>(values[i]));
  if (out == nullptr || lost != 0) return lost == 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T narrow = static_cast<T>(values[i]);
    std::memcpy(out + i * sizeof(T), &narrow, sizeof narrow);
  }
  return true;
}

bool store_bools(const std::int64_t* values, std::size_t count, std::uint8_t* out) {
  if (out == nullptr) return true;
  for (std::size_t i = 0; i < count; ++i) out[i] = values[i] != 0 ? 1 : 0;
  return true;
}

bool store_low_16_bits(const std::int64_t* values, std::size_t count, std::uint8_t* out) {
  if (out == nullptr) return true;
  for (std::size_t i = 0; i < count; ++i) {
    const auto low = static_cast<std::uint16_t>(values[i]);
    std::memcpy(out + i * sizeof low, &low, sizeof low);
  }
  return true;
}

bool store_64_bits(const std::int64_t* values, std::size_t count, std::uint8_t* out) {
  if (out != nullptr) std::memcpy(out, values, count * sizeof *values);
  return true;
}

}  // namespace

StoreVarints store_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return store_bools;
    case DType::kInt8:
      return store_in_range<std::int8_t>;
    case DType::kInt16:
      return store_in_range<std::int16_t>;
    case DType::kInt32:
      return store_in_range<std::int32_t>;
    case DType::kUint8:
      return store_in_range<std::uint8_t>;
    case DType::kUint16:
      return store_in_range<std::uint16_t>;
    case DType::kUint32:
      return store_in_range<std::uint32_t>;
    case DType::kFloat16:
    case DType::kBfloat16:
      return store_low_16_bits;
    default:
      return store_64_bits;
  }
}

std::span<const std::int64_t> VarintBlocks::next() {
  const auto left = static_cast<std::size_t>(end_ - at_);
  std::size_t bytes = std::min(left, kBlockBytes);
  if (bytes < left) {
    while (bytes > 0 && at_[bytes - 1] >= 0x80) --bytes;  // back to the end of a varint
  }
  const std::uint8_t* block = at_;
  if (static_cast<std::size_t>(readable_end_ - at_) < bytes + kRecordPadding) {
    std::copy_n(at_, bytes, copy_.begin());
    block = copy_.data();
  }
  at_ += bytes;
  const std::int64_t count = decode_packed_varints(block, bytes, values_.data(), kBlockBytes);
  return {values_.data(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0))};
}

}  // namespace headrace
