#include "example/key_set.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(KeySet, FindsEveryKeyAndNothingElse) {
  const std::vector<std::string> keys = {"label",
                                         "I1",
                                         "I10",
                                         "",
                                         std::string("a\0b", 3),
                                         "eightoct",
                                         "nine octs",
                                         "sixteen octets!!",
                                         "first 8 same, middle A, last 8 same",
                                         "first 8 same, middle B, last 8 same"};
  const KeySet set(keys);
  ASSERT_EQ(set.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(set.find(keys[i]), static_cast<int>(i)) << keys[i];
  for (const char* other : {"I2", "labe", "labels", "a", "eightocs", "sixteen octets!?", "nine Octs",
                            "first 8 same, middle C, last 8 same"}) {
    EXPECT_EQ(set.find(other), -1) << other;
  }
  EXPECT_EQ(set.find(std::string_view("a\0c", 3)), -1);
}

TEST(KeySet, AnEmptySetFindsNothing) {
  const KeySet set({});
  EXPECT_EQ(set.find(""), -1);
  EXPECT_EQ(set.find("anything at all"), -1);
}

TEST(KeySet, ManyKeys) {
  std::vector<std::string> keys;
  for (int i = 0; i < 5000; ++i) keys.push_back("feature_number_" + std::to_string(i) + "_of_many");
  const KeySet set(keys);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(set.find(keys[static_cast<std::size_t>(i)]), i);
  EXPECT_EQ(set.find("feature_number_5000_of_many"), -1);
}

TEST(KeySet, FindsAKeyWithoutLookingBehindIt) {
  const KeySet set({"ab", "abc"});
  const std::uint8_t padded[16] = {'a', 'b', 'c', 0xFF, 0, 'x'};
  EXPECT_EQ(set.find_padded(padded, 2), 0);
  EXPECT_EQ(set.find_padded(padded, 3), 1);
  EXPECT_EQ(set.find_padded(padded, 4), -1);
}

}  // namespace
}  // namespace headrace
