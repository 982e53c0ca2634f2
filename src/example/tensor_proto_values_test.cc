// Long packed fields of varints in a TensorProto: every dtype, at every length around the blocks they are read in.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "example/tensor_proto.h"
#include "example/tensor_proto_fields.h"
#include "example/wire_test_bytes.h"

namespace headrace {
namespace {

using namespace test;

// A message in memory of exactly its size: no reader may look behind it.
class Exact {
 public:
  explicit Exact(std::string_view bytes)
      : memory_(std::make_unique<std::uint8_t[]>(bytes.size())), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), memory_.get());
  }
  std::span<const std::uint8_t> bytes() const { return {memory_.get(), size_}; }

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  std::size_t size_;
};

std::string proto_of(DType dtype, std::uint64_t elements, std::string_view packed) {
  return varint_field(1, tensorflow_number(dtype)) + bytes_field(2, bytes_field(2, varint_field(1, elements))) +
         bytes_field(typed_field_of(dtype), packed);
}

// The text of the failure, "" when `values` are there.
template <class T>
std::string decode(const std::string& proto, std::vector<T>* values) {
  const Exact exact(proto);
  TensorProtoView view;
  EXPECT_TRUE(read_tensor_proto(exact.bytes(), &view).ok());
  values->assign(static_cast<std::size_t>(view.elements), T());
  const Status status = decode_tensor_proto(view, reinterpret_cast<std::uint8_t*>(values->data()));
  EXPECT_EQ(check_tensor_values(view).message(), status.message());
  return status.message();
}

constexpr std::size_t kLengths[] = {1, 2, 50, 51, 63, 64, 65, 255, 511, 512, 513, 1023, 1024, 1025, 3000};

template <class T>
void expect_all_lengths(DType dtype) {
  const std::uint64_t key = random_key(3, static_cast<std::uint64_t>(dtype));
  for (const std::size_t length : kLengths) {
    std::vector<T> values(length);
    std::string packed;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint64_t bits = random_u64(key, i);
      values[i] = static_cast<T>(bits >> (bits % 64));
      packed += varint(static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i])));
    }
    std::vector<T> found;
    EXPECT_EQ(decode<T>(proto_of(dtype, length, packed), &found), "") << length;
    EXPECT_EQ(found, values) << length;
    // Filled with the last one; with too many; cut.
    EXPECT_EQ(decode<T>(proto_of(dtype, length + 2, packed), &found), "");
    values.insert(values.end(), 2, values.back());
    EXPECT_EQ(found, values);
    if (length > 1) {
      EXPECT_NE(decode<T>(proto_of(dtype, length - 1, packed), &found).find("values, expected"), std::string::npos);
    }
    EXPECT_NE(decode<T>(proto_of(dtype, length, packed + "\x80"), &found).find("is damaged"), std::string::npos);
    EXPECT_NE(decode<T>(proto_of(dtype, length, std::string(11, '\x80') + packed), &found).find("is damaged"),
              std::string::npos);
  }
}

TEST(TensorProtoValues, PackedVarintsOfEveryLength) {
  expect_all_lengths<std::int8_t>(DType::kInt8);
  expect_all_lengths<std::int16_t>(DType::kInt16);
  expect_all_lengths<std::int32_t>(DType::kInt32);
  expect_all_lengths<std::int64_t>(DType::kInt64);
  expect_all_lengths<std::uint8_t>(DType::kUint8);
  expect_all_lengths<std::uint16_t>(DType::kUint16);
  expect_all_lengths<std::uint32_t>(DType::kUint32);
  expect_all_lengths<std::uint64_t>(DType::kUint64);
  expect_all_lengths<std::uint16_t>(DType::kFloat16);
  expect_all_lengths<std::uint16_t>(DType::kBfloat16);
}

TEST(TensorProtoValues, BoolsAndHighBits) {
  for (const std::size_t length : kLengths) {
    std::string packed;
    std::vector<std::uint8_t> bools(length);
    std::vector<std::uint16_t> halves(length);
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint64_t value = i % 3 == 0 ? 0 : std::uint64_t{1} << (i % 64);
      bools[i] = value != 0 ? 1 : 0;
      halves[i] = static_cast<std::uint16_t>(value);
      packed += varint(value);
    }
    std::vector<std::uint8_t> found;
    EXPECT_EQ(decode(proto_of(DType::kBool, length, packed), &found), "");
    EXPECT_EQ(found, bools);
    std::vector<std::uint16_t> found_halves;
    EXPECT_EQ(decode(proto_of(DType::kBfloat16, length, packed), &found_halves), "");
    EXPECT_EQ(found_halves, halves);
  }
}

template <class T>
void expect_range(DType dtype, std::int64_t below, std::int64_t above) {
  for (const std::int64_t wrong :
       {below, above, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    for (const std::size_t place : {0, 1, 63, 511, 512, 1999}) {
      std::string packed;
      for (std::size_t i = 0; i < 2000; ++i) packed += varint(i == place ? static_cast<std::uint64_t>(wrong) : i % 100);
      std::vector<T> found;
      EXPECT_NE(decode(proto_of(dtype, 2000, packed), &found).find("out of range"), std::string::npos) << wrong;
    }
  }
}

TEST(TensorProtoValues, AValueOutOfRangeAtAnyPlace) {
  expect_range<std::int8_t>(DType::kInt8, -129, 128);
  expect_range<std::int16_t>(DType::kInt16, -32769, 32768);
  expect_range<std::int32_t>(DType::kInt32, -2147483649, 2147483648);
  expect_range<std::uint8_t>(DType::kUint8, -1, 256);
  expect_range<std::uint16_t>(DType::kUint16, -1, 65536);
  expect_range<std::uint32_t>(DType::kUint32, -1, 4294967296);
}

}  // namespace
}  // namespace headrace
