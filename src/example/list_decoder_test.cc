#include "example/list_decoder.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "example/scalar_decoder.h"
#include "example/wire_test_bytes.h"

namespace headrace {
namespace {

using namespace test;

constexpr std::uint64_t kMinusOne = ~std::uint64_t{0};

// The values of an Int64List; {-99} when it is malformed. Checks that count and decode agree and respect the capacity.
std::vector<std::int64_t> int64s(std::string_view list) {
  const Padded padded(list);
  const FeatureView view = padded.view(ListKind::kInt64);
  const std::int64_t count = count_int64_list(view);
  if (count < 0) {
    EXPECT_EQ(decode_int64_list(view, nullptr, 0), -1);
    return {-99};
  }
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  EXPECT_EQ(decode_int64_list(view, out.data(), count), count);
  for (std::int64_t capacity = 0; capacity < count; ++capacity) {
    std::vector<std::int64_t> part(static_cast<std::size_t>(capacity) + 1, 12345);
    EXPECT_EQ(decode_int64_list(view, part.data(), capacity), count);
    EXPECT_TRUE(std::equal(part.begin(), part.end() - 1, out.begin()));
    EXPECT_EQ(part.back(), 12345);
  }
  return out;
}

std::vector<float> floats(std::string_view list) {
  const Padded padded(list);
  const FeatureView view = padded.view(ListKind::kFloat);
  const std::int64_t count = count_float_list(view);
  if (count < 0) return {-99};
  std::vector<float> out(static_cast<std::size_t>(count));
  EXPECT_EQ(decode_float_list(view, out.data(), count), count);
  if (count > 1) {
    std::vector<float> part = {1234, 1234};
    EXPECT_EQ(decode_float_list(view, part.data(), 1), count);
    EXPECT_EQ(raw(part), raw<float>({out[0], 1234}));
  }
  return out;
}

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

TEST(Int64List, AllWireForms) {
  EXPECT_EQ(int64s(""), Ints{});
  EXPECT_EQ(int64s(bytes_field(1, "")), Ints{});
  EXPECT_EQ(int64s(bytes_field(1, varints({13, 270, kMinusOne}))), (Ints{13, 270, -1}));
  EXPECT_EQ(int64s(varint_field(1, 13) + varint_field(1, 270) + varint_field(1, kMinusOne)), (Ints{13, 270, -1}));
  EXPECT_EQ(int64s(bytes_field(1, varints({1, 2})) + bytes_field(1, "") + bytes_field(1, varints({3}))),
            (Ints{1, 2, 3}));
  EXPECT_EQ(int64s(varint_field(1, 1) + bytes_field(1, varints({2, 3})) + varint_field(1, 4)), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(int64s(bytes_field(2, "junk") + varint_field(1, 1) + group_field(4, "") + fixed32_field(3, 1)), (Ints{1}));
}

TEST(Int64List, UnpackedValuesOfEveryLength) {
  std::string unpacked;
  std::vector<std::uint64_t> values;
  for (unsigned bits = 0; bits < 64; ++bits) {
    values.push_back(~std::uint64_t{0} >> bits);
    unpacked += varint_field(1, values.back());
  }
  for (std::size_t i = 0; i < 3; ++i) {  // a tag of two bytes, a value of more bytes than it needs
    values.push_back(i);
    unpacked += std::string("\x88\x00", 2) + static_cast<char>(i);
    values.push_back(300 + i);
    unpacked += '\x08' + std::string(1, static_cast<char>(0xAC + i)) + "\x82" + std::string("\x80\x00", 2);
  }
  EXPECT_EQ(int64s(unpacked), int64s(bytes_field(1, varints(values))));
  for (std::size_t cut = 1; cut < 10; ++cut) {  // all ten bytes of the last value but one
    const std::string whole = varint_field(1, 5) + varint_field(1, kMinusOne);
    EXPECT_EQ(int64s(std::string_view(whole).substr(0, whole.size() - cut)), Ints{-99});
  }
  for (const std::size_t bytes : {7, 8, 9, 10}) {  // cut where the padding would end it
    EXPECT_EQ(int64s(varint_field(1, 5) + '\x08' + std::string(bytes, '\x81')), Ints{-99});
  }
}

TEST(Int64List, Extremes) {
  const std::int64_t min = std::numeric_limits<std::int64_t>::min();
  const std::int64_t max = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(int64s(bytes_field(1, varints({kMinusOne, std::uint64_t{1} << 63, static_cast<std::uint64_t>(max), 0,
                                           std::uint64_t{1} << 31}))),
            (Ints{-1, min, max, 0, std::int64_t{1} << 31}));
  EXPECT_EQ(int64s(bytes_field(1, std::string("\x81\x80\x00", 3))), (Ints{1}));
  EXPECT_EQ(int64s(bytes_field(1, std::string(9, '\xFF') + "\x7F")), (Ints{-1}));
}

TEST(Int64List, Malformed) {
  EXPECT_EQ(int64s(bytes_field(1, "\x01\x80")), Ints{-99});
  EXPECT_EQ(int64s(bytes_field(1, std::string(10, '\x80') + '\0')), Ints{-99});
  EXPECT_EQ(int64s(bytes_field(1, std::string(70, '\x01') + std::string(10, '\x80') + '\x01')), Ints{-99});
  EXPECT_EQ(int64s(fixed32_field(1, 1)), Ints{-99});
  EXPECT_EQ(int64s("\x0A\x05\x01"), Ints{-99});
  EXPECT_EQ(int64s(varint_field(1, 1) + "\x08"), Ints{-99});
  EXPECT_EQ(int64s(varint_field(1, 1) + std::string(1, '\0')), Ints{-99});
}

TEST(FloatList, AllWireForms) {
  EXPECT_EQ(floats(""), Floats{});
  EXPECT_EQ(floats(bytes_field(1, raw<float>({1, 2, 3}))), (Floats{1, 2, 3}));
  EXPECT_EQ(floats(fixed32_field(1, 1) + fixed32_field(1, 2)), (Floats{1, 2}));
  EXPECT_EQ(floats(bytes_field(1, raw<float>({1, 2})) + bytes_field(1, raw<float>({3}))), (Floats{1, 2, 3}));
  EXPECT_EQ(floats(fixed32_field(1, 1) + bytes_field(1, raw<float>({2, 3}))), (Floats{1, 2, 3}));
  EXPECT_EQ(floats(bytes_field(1, raw<float>({1})) + varint_field(7, 1)), (Floats{1}));
}

TEST(FloatList, BitsAreKept) {
  const std::vector<std::uint32_t> bits = {0x7FA00001, 0x7F800000, 0xFF800000, 0x80000000, 0x00000001, 0xFFC12345};
  const std::vector<float> packed = floats(bytes_field(1, raw(bits)));
  ASSERT_EQ(packed.size(), bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(packed[i]), bits[i]);
    const std::vector<float> single = floats(std::string("\x0D") + raw<std::uint32_t>({bits[i]}));
    ASSERT_EQ(single.size(), 1U);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(single[0]), bits[i]);
  }
}

TEST(FloatList, Malformed) {
  EXPECT_EQ(floats(bytes_field(1, "12345")), Floats{-99});
  EXPECT_EQ(floats(fixed32_field(1, 1) + bytes_field(1, "12345")), Floats{-99});
  EXPECT_EQ(floats(varint_field(1, 1)), Floats{-99});
  EXPECT_EQ(floats("\x0D\x01\x02"), Floats{-99});
}

TEST(BytesList, ValuesAreViews) {
  const Padded padded(bytes_field(1, "") + varint_field(2, 1) + bytes_field(1, std::string("a\0b", 3)));
  std::int64_t total = 0;
  EXPECT_EQ(count_bytes_list(padded.view(ListKind::kBytes), &total), 2);
  EXPECT_EQ(total, 3);
  std::string_view out[3];
  EXPECT_EQ(decode_bytes_list(padded.view(ListKind::kBytes), out, 1), 2);
  EXPECT_EQ(out[1].data(), nullptr);
  EXPECT_EQ(decode_bytes_list(padded.view(ListKind::kBytes), out, 3), 2);
  EXPECT_EQ(out[1], std::string_view("a\0b", 3));
  EXPECT_EQ(out[1].data(), reinterpret_cast<const char*>(padded.bytes().data()) + padded.bytes().size() - 3);
}

TEST(BytesList, Malformed) {
  std::int64_t total = 0;
  for (const std::string& list : {std::string("\x0A\x05"
                                              "ab"),
                                  varint_field(1, 1), std::string("\x0A")}) {
    EXPECT_EQ(count_bytes_list(Padded(list).view(ListKind::kBytes), &total), -1);
    EXPECT_EQ(decode_bytes_list(Padded(list).view(ListKind::kBytes), nullptr, 0), -1);
  }
}

TEST(ScalarDecoder, Int64AgreesWithTheListDecoder) {
  for (unsigned shift = 0; shift < 64; ++shift) {
    for (const std::uint64_t value :
         {std::uint64_t{1} << shift, (std::uint64_t{1} << shift) - 1, ~std::uint64_t{0} << shift}) {
      const Padded list(bytes_field(1, varint(value)));
      std::int64_t out = 0;
      const bool is_scalar = decode_int64_scalar(list.view(ListKind::kInt64), &out);
      EXPECT_EQ(is_scalar, varint(value).size() <= 8);
      EXPECT_EQ(out, is_scalar ? static_cast<std::int64_t>(value) : 0);
    }
  }
  for (const std::string& other :
       {std::string(), std::string("\x0A"), bytes_field(1, ""), varint_field(1, 5), bytes_field(1, varints({1, 2})),
        bytes_field(1, varints({1, 300})), bytes_field(1, "\x80"), bytes_field(1, "\x80\x80"), bytes_field(2, "\x01"),
        std::string("\x0A\x02\x01"), bytes_field(1, varint(1)) + varint_field(9, 1)}) {
    std::int64_t out = 0;
    EXPECT_FALSE(decode_int64_scalar(Padded(other, 0x01).view(ListKind::kInt64), &out));
  }
}

TEST(ScalarDecoder, FloatAndBytes) {
  float f = 0;
  EXPECT_TRUE(decode_float_scalar(Padded(bytes_field(1, raw<float>({1.5F}))).view(ListKind::kFloat), &f));
  EXPECT_EQ(f, 1.5F);
  EXPECT_FALSE(decode_float_scalar(Padded(bytes_field(1, raw<float>({1, 2}))).view(ListKind::kFloat), &f));
  EXPECT_FALSE(decode_float_scalar(Padded(fixed32_field(1, 1)).view(ListKind::kFloat), &f));
  EXPECT_FALSE(decode_float_scalar(Padded("").view(ListKind::kFloat), &f));
  const std::uint8_t* data = nullptr;
  std::uint64_t size = 0;
  const Padded list(bytes_field(1, std::string(300, 'x')));
  EXPECT_TRUE(decode_bytes_scalar(list.view(ListKind::kBytes), &data, &size));
  EXPECT_EQ(size, 300U);
  EXPECT_EQ(data, list.bytes().data() + 3);
  EXPECT_FALSE(
      decode_bytes_scalar(Padded(bytes_field(1, "a") + bytes_field(1, "b")).view(ListKind::kBytes), &data, &size));
  EXPECT_FALSE(decode_bytes_scalar(Padded("").view(ListKind::kBytes), &data, &size));
}

}  // namespace
}  // namespace headrace
