#include "example/feature_length.h"

#include <gtest/gtest.h>

#include <string_view>

#include "example/wire_test_bytes.h"
#include "headrace/example.h"

namespace headrace {
namespace {

using test::bytes_field;
using test::int64_feature;

Result<std::int64_t> length_of(const std::string& key, std::string record, bool sequence = false) {
  const std::size_t size = record.size();
  record.append(kRecordPadding, '\0');
  return FeatureLength(key, sequence).of({reinterpret_cast<const std::uint8_t*>(record.data()), size});
}

TEST(FeatureLength, CountsTheValuesOfAnyKind) {
  const std::int64_t ints[] = {1, 300, -1};
  const float floats[] = {1, 2};
  const std::string_view texts[] = {"a", "", "ccc", "d"};
  const std::string record = ExampleBuilder().add_int64("i", ints).add_float("f", floats).add_bytes("b", texts).build();
  EXPECT_EQ(length_of("i", record).value(), 3);
  EXPECT_EQ(length_of("f", record).value(), 2);
  EXPECT_EQ(length_of("b", record).value(), 4);
  EXPECT_EQ(length_of("missing", record).value(), 0);
  EXPECT_EQ(length_of("i", "").value(), 0);
}

TEST(FeatureLength, CountsTheStepsOfAFeatureList) {
  const std::string step = bytes_field(1, int64_feature({7, 7}));
  const auto list = [](std::string_view key, const std::string& steps) {
    return bytes_field(1, bytes_field(1, key) + bytes_field(2, steps));
  };
  const std::string record = bytes_field(2, list("tokens", step + step + step) + list("none", ""));
  EXPECT_EQ(length_of("tokens", record, true).value(), 3);
  EXPECT_EQ(length_of("none", record, true).value(), 0);
  EXPECT_EQ(length_of("missing", record, true).value(), 0);
  const std::string damaged = bytes_field(2, list("tokens", step + "\x0A\x7F"));
  EXPECT_EQ(length_of("tokens", damaged, true).status().code(), StatusCode::kSchemaMismatch);
}

TEST(FeatureLength, SaysWhatIsMalformed) {
  EXPECT_EQ(length_of("i", "\xFF\xFF").status().code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(length_of("i", "\xFF\xFF", true).status().code(), StatusCode::kSchemaMismatch);
}

}  // namespace
}  // namespace headrace
