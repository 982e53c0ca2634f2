// Fingerprints of strings around the borders of the four formulas; the values are those of tf.fingerprint (TensorFlow 2.21).
#include "base/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

TEST(Fingerprint, ValuesOfFarmHash) {
  struct Case {
    std::size_t size;
    std::uint64_t value;
  };
  const Case cases[] = {{0, 0x9AE16A3B2F90404F},   {1, 0xBEC09CC447469D8B},   {3, 0x40B4412E33EEFD64},
                        {4, 0xF3C7EE05197A7B92},   {7, 0x4FEF0B39C12AA9A4},   {8, 0x0C97ECBC1E9D2626},
                        {16, 0x7EDA0ED8C837A168},  {17, 0xC9518FE63EBF6127},  {32, 0xA53F806F23A314E8},
                        {33, 0xC24F9D7CE864F0E9},  {64, 0x0566266CB579ECA2},  {65, 0x77E0867714E6B0E4},
                        {128, 0x666823960B3AC271}, {129, 0x98206B8579BCA083}, {1000, 0xE021806CC1E3DC4C}};
  for (const Case& one : cases) {
    std::string text(one.size, '\0');
    for (std::size_t i = 0; i < one.size; ++i) text[i] = static_cast<char>(i * 7 + 3);
    EXPECT_EQ(fingerprint64(text), one.value) << one.size;
  }
}

}  // namespace
}  // namespace headrace
