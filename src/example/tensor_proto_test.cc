#include "example/tensor_proto.h"

#include <gtest/gtest.h>

#include <array>

#include "example/tensor_proto_fields.h"
#include "example/wire_test_bytes.h"
#include "headrace/example.h"

namespace headrace {
namespace {

using namespace test;

std::string dims(const std::vector<std::uint64_t>& sizes) {
  std::string out;
  for (const std::uint64_t size : sizes) out += bytes_field(2, size == 0 ? "" : varint_field(1, size));
  return bytes_field(2, out);
}
std::string head(DType dtype, const std::vector<std::uint64_t>& sizes) {
  return varint_field(1, tensorflow_number(dtype)) + dims(sizes);
}

// Reads and decodes; the elements, or the text of the failure.
template <class T>
struct Decoded {
  std::vector<T> values;
  std::string failure;
};
template <class T>
Decoded<T> decode(const std::string& proto) {
  const Padded padded(proto);
  TensorProtoView view;
  Status status = read_tensor_proto(padded.bytes(), &view);
  Decoded<T> out;
  if (status.ok()) {
    EXPECT_EQ(size_of(view.dtype), sizeof(T));
    out.values.assign(static_cast<std::size_t>(view.elements), T());
    const Status checked = check_tensor_values(view);
    status = decode_tensor_proto(view, reinterpret_cast<std::uint8_t*>(out.values.data()));
    EXPECT_EQ(checked.message(), status.message());
  }
  if (status.ok()) return out;
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  return {{}, status.message()};
}

template <class T>
void expect_values(const std::string& proto, const std::vector<T>& values) {
  const Decoded<T> decoded = decode<T>(proto);
  EXPECT_EQ(decoded.failure, "");
  EXPECT_EQ(decoded.values, values);
}

template <class T>
void expect_failure(const std::string& proto, std::string_view text) {
  const std::string failure = decode<T>(proto).failure;
  EXPECT_NE(failure.find(text), std::string::npos) << "failure: " << failure;
}

template <class T>
T element(int i) {
  return static_cast<T>(i + 1);
}

template <class T>
void expect_round_trip(DType dtype) {
  const std::vector<T> values = {element<T>(0), element<T>(1), element<T>(2), element<T>(3)};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  const Result<std::string> proto = make_tensor_proto(dtype, {2, 2}, {bytes, values.size() * sizeof(T)});
  ASSERT_TRUE(proto.ok());
  expect_values<T>(*proto, values);
}

TEST(TensorProto, ContentOfEveryDtype) {
  expect_round_trip<std::int8_t>(DType::kInt8);
  expect_round_trip<std::int16_t>(DType::kInt16);
  expect_round_trip<std::int32_t>(DType::kInt32);
  expect_round_trip<std::int64_t>(DType::kInt64);
  expect_round_trip<std::uint8_t>(DType::kUint8);
  expect_round_trip<std::uint16_t>(DType::kUint16);
  expect_round_trip<std::uint32_t>(DType::kUint32);
  expect_round_trip<std::uint64_t>(DType::kUint64);
  expect_round_trip<std::uint16_t>(DType::kFloat16);
  expect_round_trip<std::uint16_t>(DType::kBfloat16);
  expect_round_trip<float>(DType::kFloat32);
  expect_round_trip<double>(DType::kFloat64);
  expect_round_trip<std::uint64_t>(DType::kComplex64);
  expect_round_trip<long double>(DType::kComplex128);
  expect_values<std::uint8_t>(head(DType::kBool, {2}) + bytes_field(4, std::string("\x01\x00", 2)), {1, 0});
  expect_failure<std::uint8_t>(head(DType::kBool, {2}) + bytes_field(4, "\x01\x02"), "other than 0 and 1");
}

TEST(TensorProto, TypedFieldsOfEveryDtype) {
  constexpr std::uint64_t kMinus5 = static_cast<std::uint64_t>(-5);
  expect_values<float>(head(DType::kFloat32, {3}) + bytes_field(5, raw<float>({1, 2, 3})), {1, 2, 3});
  expect_values<double>(head(DType::kFloat64, {2}) + bytes_field(6, raw<double>({0.1, 2})), {0.1, 2});
  expect_values<std::int32_t>(head(DType::kInt32, {2}) + bytes_field(7, varints({kMinus5, 300})), {-5, 300});
  expect_values<std::uint8_t>(head(DType::kUint8, {2}) + bytes_field(7, varints({255, 0})), {255, 0});
  expect_values<std::int16_t>(head(DType::kInt16, {1}) + bytes_field(7, varints({kMinus5})), {-5});
  expect_values<std::int8_t>(head(DType::kInt8, {1}) + bytes_field(7, varints({kMinus5})), {-5});
  expect_values<std::uint16_t>(head(DType::kUint16, {1}) + bytes_field(7, varints({65535})), {65535});
  expect_values<std::int64_t>(head(DType::kInt64, {2}) + bytes_field(10, varints({kMinus5, std::uint64_t{1} << 62})),
                              {-5, std::int64_t{1} << 62});
  expect_values<std::uint8_t>(head(DType::kBool, {3}) + bytes_field(11, varints({1, 0, 2})), {1, 0, 1});
  expect_values<std::uint16_t>(head(DType::kFloat16, {2}) + bytes_field(13, varints({0x4900, 0x14D00})),
                               {0x4900, 0x4D00});
  expect_values<std::uint16_t>(head(DType::kBfloat16, {1}) + bytes_field(13, varints({0x3F80})), {0x3F80});
  expect_values<std::uint32_t>(head(DType::kUint32, {1}) + bytes_field(16, varints({0xFFFFFFFF})), {0xFFFFFFFF});
  expect_values<std::uint64_t>(head(DType::kUint64, {1}) + bytes_field(17, varints({~std::uint64_t{0}})),
                               {~std::uint64_t{0}});
  expect_values<std::array<float, 2>>(head(DType::kComplex64, {2}) + bytes_field(9, raw<float>({1, 2, 3, 4})),
                                      {{1, 2}, {3, 4}});
  expect_values<std::array<double, 2>>(head(DType::kComplex128, {1}) + bytes_field(12, raw<double>({1, 2})), {{1, 2}});
}

TEST(TensorProto, TypedFieldsInEveryWireForm) {
  const std::string floats = head(DType::kFloat32, {3});
  expect_values<float>(floats + fixed32_field(5, 1) + fixed32_field(5, 2) + fixed32_field(5, 3), {1, 2, 3});
  expect_values<float>(floats + bytes_field(5, raw<float>({1, 2})) + fixed32_field(5, 3), {1, 2, 3});
  expect_values<double>(head(DType::kFloat64, {2}) + fixed64_field(6, 4) + bytes_field(6, raw<double>({5})), {4, 5});
  const std::string ints = head(DType::kInt64, {3});
  expect_values<std::int64_t>(ints + varint_field(10, 1) + bytes_field(10, varints({2, 3})), {1, 2, 3});
  expect_failure<float>(floats + bytes_field(5, "12345"), "float_val is damaged");
  expect_failure<std::int64_t>(ints + bytes_field(10, "\x01\x80"), "int64_val is damaged");
  expect_failure<float>(floats + varint_field(5, 1), "wrong wire type");
}

TEST(TensorProto, TheLastValueFillsTheRest) {
  expect_values<float>(head(DType::kFloat32, {2, 2}) + fixed32_field(5, 1.5F), {1.5F, 1.5F, 1.5F, 1.5F});
  expect_values<std::int64_t>(head(DType::kInt64, {4}) + bytes_field(10, varints({1, 2})), {1, 2, 2, 2});
  expect_values<std::array<float, 2>>(head(DType::kComplex64, {3}) + bytes_field(9, raw<float>({1, 2, 3, 4})),
                                      {{1, 2}, {3, 4}, {3, 4}});
  expect_values<float>(head(DType::kFloat32, {2}), {0, 0});
  expect_values<float>(head(DType::kFloat32, {2}) + bytes_field(4, "") + fixed32_field(5, 3), {3, 3});
  expect_failure<float>(head(DType::kFloat32, {1}) + bytes_field(5, raw<float>({1, 2})), "has 2 values, expected 1");
  expect_failure<std::array<float, 2>>(head(DType::kComplex64, {2}) + bytes_field(9, raw<float>({1, 2, 3})), "odd");
}

TEST(TensorProto, ValuesMustBeInTheirFieldAndRange) {
  expect_failure<std::int64_t>(head(DType::kInt64, {1}) + varint_field(7, 1),
                               "values in int_val, expected in int64_val");
  expect_failure<float>(head(DType::kFloat32, {1}) + fixed64_field(6, 1), "double_val");
  expect_failure<std::uint8_t>(head(DType::kUint8, {1}) + varint_field(7, 300), "out of range");
  expect_failure<std::int32_t>(head(DType::kInt32, {1}) + varint_field(7, std::uint64_t{1} << 40), "out of range");
  expect_values<float>(head(DType::kFloat32, {1}) + bytes_field(4, raw<float>({7})) + varint_field(7, 1), {7});
}

// Fields 14 and 15 hold messages; with another wire type they are unknown fields.
TEST(TensorProto, ResourcesAndVariantsAreNoValues) {
  const std::string one = head(DType::kFloat32, {1}) + fixed32_field(5, 7);
  for (const std::uint64_t number : {14, 15}) {
    const std::string text = number == 14 ? "values in resource_handle_val" : "values in variant_val";
    expect_failure<float>(one + bytes_field(number, bytes_field(1, "x")), text);
    for (const std::string& unknown : {varint_field(number, 1), fixed32_field(number, 1), fixed64_field(number, 1),
                                       group_field(number, varint_field(1, 1))}) {
      expect_values<float>(one + unknown, {7});
      expect_values<float>(unknown + one, {7});
    }
  }
  const Padded padded(head(DType::kBytes, {1}) + bytes_field(8, "a") + varint_field(15, 1));
  TensorProtoView view;
  std::vector<std::string_view> out;
  ASSERT_TRUE(read_tensor_proto(padded.bytes(), &view).ok());
  ASSERT_TRUE(decode_string_tensor(view, &out).ok());
  EXPECT_EQ(out, (std::vector<std::string_view>{"a"}));
}

TEST(TensorProto, ContentMustFitTheShape) {
  expect_failure<float>(head(DType::kFloat32, {2}) + bytes_field(4, "1234567"), "has 7 bytes, expected 2 elements");
  expect_failure<float>(head(DType::kFloat32, {2}) + bytes_field(4, "123456789"), "has 9 bytes");
  expect_failure<float>(head(DType::kFloat32, {0}) + bytes_field(4, "1"), "has 1 bytes");
  expect_failure<float>(head(DType::kFloat32, {1}) + bytes_field(4, "123") + fixed32_field(5, 1), "has 3 bytes");
}

TEST(TensorProto, Shapes) {
  expect_values<float>(varint_field(1, 1) + bytes_field(4, raw<float>({1})), {1});
  expect_values<float>(head(DType::kFloat32, {2}) + dims({2}) + fixed32_field(5, 1), {1, 1, 1, 1});
  expect_values<float>(head(DType::kFloat32, {0, 3}), {});
  expect_values<float>(head(DType::kFloat32, {0, std::uint64_t{1} << 62, std::uint64_t{1} << 62}), {});
  expect_failure<float>(head(DType::kFloat32, {std::uint64_t{1} << 62, std::uint64_t{1} << 62, 0}),
                        "too many elements");
  expect_failure<float>(head(DType::kFloat32, {2, ~std::uint64_t{0}}), "dimension 1 is -1");
  expect_failure<float>(head(DType::kFloat32, {std::uint64_t{1} << 40}) + fixed32_field(5, 1), "claims 1099511627776");
  expect_failure<float>(varint_field(1, 1) + bytes_field(2, varint_field(3, 1)), "rank is unknown");
  const Padded many(head(DType::kFloat32, std::vector<std::uint64_t>(254, 1)) + fixed32_field(5, 1));
  TensorProtoView view;
  ASSERT_TRUE(read_tensor_proto(many.bytes(), &view).ok());
  EXPECT_EQ(view.rank, 254);
  EXPECT_EQ(view.dim(7), 1);
  EXPECT_EQ(view.dim(253), 1);
  expect_failure<float>(head(DType::kFloat32, std::vector<std::uint64_t>(255, 1)), "more than 254");
}

TEST(TensorProto, OneViewReadsManyMessages) {
  TensorProtoView view;
  const Padded deep(head(DType::kInt64, std::vector<std::uint64_t>(10, 1)) + varint_field(10, 1));
  const Padded flat(head(DType::kFloat32, {3, 2}) + bytes_field(4, std::string(24, 'x')));
  ASSERT_TRUE(read_tensor_proto(deep.bytes(), &view).ok());
  EXPECT_EQ(view.more_dims.size(), 2U);
  ASSERT_TRUE(read_tensor_proto(flat.bytes(), &view).ok());
  EXPECT_EQ(view.rank, 2);
  EXPECT_EQ(view.dims[0], 3);
  EXPECT_EQ(view.dims[1], 2);
  EXPECT_TRUE(view.more_dims.empty());
  EXPECT_EQ(view.content.size(), 24U);
  ASSERT_TRUE(read_tensor_proto(deep.bytes(), &view).ok());
  EXPECT_FALSE(view.has_content);
}

// An unknown field in front sends a message to the careful walk: the quick one must give the same for any damage.
TEST(TensorProto, BothWalksAgree) {
  const std::string whole = head(DType::kInt16, {3, 200, 1}) + bytes_field(4, std::string(3 * 200 * 2, 'x'));
  for (std::size_t at = 0; at < 24; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      const Padded quick(changed);
      const Padded careful(varint_field(40, 1) + changed);
      TensorProtoView quick_view;
      TensorProtoView careful_view;
      const Status status = read_tensor_proto(quick.bytes(), &quick_view);
      ASSERT_EQ(status.ok(), read_tensor_proto(careful.bytes(), &careful_view).ok()) << at << " " << value;
      if (!status.ok()) continue;
      ASSERT_EQ(quick_view.dtype, careful_view.dtype);
      ASSERT_EQ(quick_view.rank, careful_view.rank);
      for (int i = 0; i < quick_view.rank; ++i) ASSERT_EQ(quick_view.dim(i), careful_view.dim(i));
      ASSERT_EQ(quick_view.elements, careful_view.elements);
      ASSERT_EQ(quick_view.content, careful_view.content);
      ASSERT_EQ(quick_view.has_content, careful_view.has_content);
    }
  }
}

TEST(TensorProto, UnknownFieldsAreSkippedAndTheLastOfAFieldCounts) {
  const std::string content = bytes_field(4, raw<float>({1, 2}));
  const std::string extras = varint_field(3, 9) + bytes_field(99, "junk") + group_field(50, varint_field(1, 1));
  const std::string named = bytes_field(2, bytes_field(2, bytes_field(2, "height") + varint_field(1, 2)));
  expect_values<float>(extras + varint_field(1, 1) + extras + named + content + extras, {1, 2});
  expect_values<float>(varint_field(1, 2) + head(DType::kFloat32, {2}) + bytes_field(4, "x") + content, {1, 2});
}

TEST(TensorProto, WhatIsNoTensorProtoSaysWhatItLooksLike) {
  for (const std::string& bytes : {raw<float>({0.5F, 0.25F, 3}), std::string("some text, no tensor"),
                                   std::string(5, '\0'), head(DType::kFloat32, {2}) + std::string(1, '\0')}) {
    expect_failure<float>(bytes, "Could not parse `serialized` as TensorProto (looks like raw bytes: use decode_raw");
  }
  expect_failure<float>("", "Could not parse `serialized` as TensorProto");
  expect_failure<float>("\xFF\xD8\xFF\xE0 JFIF", "JPEG");
  expect_failure<float>("\x89PNG\r\n", "PNG");
  const std::string whole = head(DType::kFloat32, {2}) + bytes_field(4, raw<float>({1, 2}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const bool ends_at_a_field = size == 2 || size == head(DType::kFloat32, {2}).size();
    EXPECT_EQ(decode<float>(whole.substr(0, size)).failure.empty(), ends_at_a_field) << size;
  }
}

TEST(TensorProto, Float8) {
  using Bytes = std::vector<std::uint8_t>;
  for (const DType dtype : {DType::kFloat8E5m2, DType::kFloat8E4m3fn, DType::kFloat8E4m3fnuz, DType::kFloat8E4m3b11fnuz,
                            DType::kFloat8E5m2fnuz}) {
    const std::string three = head(dtype, {3});
    expect_values<std::uint8_t>(three + bytes_field(4, "\x01\x02\xFF"), Bytes{1, 2, 255});
    expect_values<std::uint8_t>(three + bytes_field(18, "\x01\x02\xFF"), Bytes{1, 2, 255});
    expect_values<std::uint8_t>(three + bytes_field(18, "\x01\x02"), Bytes{1, 2, 2});
    expect_values<std::uint8_t>(three, Bytes{0, 0, 0});
    // float8_val is one value of bytes, not a list.
    expect_values<std::uint8_t>(three + bytes_field(18, "\x01\x02") + bytes_field(18, "\x07"), Bytes{7, 7, 7});
    expect_values<std::uint8_t>(three + bytes_field(18, "\x01") + bytes_field(18, ""), Bytes{0, 0, 0});
    expect_failure<std::uint8_t>(three + bytes_field(18, "1234"), "float8_val has 4 values, expected 3");
    expect_failure<std::uint8_t>(three + varint_field(18, 1), "wrong wire type");
    expect_failure<std::uint8_t>(three + varint_field(7, 1), "values in int_val, expected in float8_val");
  }
}

// One string of a message that claims millions costs one view.
TEST(TensorProto, AFillOfStringsIsNotWrittenOut) {
  const Padded padded(head(DType::kBytes, {std::uint64_t{1} << 25}) + bytes_field(8, "ab"));
  TensorProtoView view;
  std::vector<std::string_view> out;
  ASSERT_TRUE(read_tensor_proto(padded.bytes(), &view).ok());
  EXPECT_EQ(view.elements, 1 << 25);
  ASSERT_TRUE(decode_string_tensor(view, &out).ok());
  EXPECT_EQ(out, (std::vector<std::string_view>{"ab"}));
}

TEST(TensorProto, UnsupportedDtypesAreNamed) {
  expect_failure<float>(varint_field(1, 29) + dims({1}), "int4 is not supported");
  expect_failure<float>(varint_field(1, 11) + dims({1}), "qint8 is not supported");
  expect_failure<float>(varint_field(1, 0) + dims({1}), "unknown dtype 0");
  expect_failure<float>(varint_field(1, 101) + dims({1}), "unknown dtype 101");
  expect_values<float>(varint_field(1, (std::uint64_t{1} << 32) + 1) + dims({1}) + fixed32_field(5, 7), {7});
  expect_failure<float>(dims({1}) + bytes_field(4, "1234"), "unknown dtype 0");
}

// The strings of a message, or the text of the failure as the only one.
std::vector<std::string> strings(const std::string& proto) {
  const Padded padded(proto);
  TensorProtoView view;
  std::vector<std::string_view> out = {"left over"};
  Status status = read_tensor_proto(padded.bytes(), &view);
  if (status.ok()) status = decode_string_tensor(view, &out);
  if (!status.ok()) return {status.message()};
  std::vector<std::string> all(out.begin(), out.end());
  if (!out.empty()) all.resize(static_cast<std::size_t>(view.elements), all.back());
  return all;
}
using Strings = std::vector<std::string>;

TEST(TensorProto, Strings) {
  const std::string two = head(DType::kBytes, {2});
  EXPECT_EQ(strings(two + bytes_field(8, "ab") + bytes_field(8, "")), (Strings{"ab", ""}));
  EXPECT_EQ(strings(two + bytes_field(8, "ab")), (Strings{"ab", "ab"}));
  EXPECT_EQ(strings(two), (Strings{"", ""}));
  EXPECT_EQ(strings(two + bytes_field(4, std::string("\x02\x01xyz", 5))), (Strings{"xy", "z"}));
  EXPECT_NE(strings(two + bytes_field(8, "") + bytes_field(8, "") + bytes_field(8, ""))[0].find("3 values"),
            std::string::npos);
  EXPECT_NE(strings(two + bytes_field(4, std::string("\x02\x02xyz", 5)))[0].find("2 strings"), std::string::npos);
  EXPECT_NE(strings(two + bytes_field(4, std::string("\x02\x01xyzz", 6)))[0].find("2 strings"), std::string::npos);
  EXPECT_NE(strings(head(DType::kBytes, {std::uint64_t{1} << 40}) + bytes_field(4, "x"))[0].find("strings"),
            std::string::npos);
  EXPECT_NE(strings(two + varint_field(7, 1))[0].find("int_val"), std::string::npos);
}

}  // namespace
}  // namespace headrace
