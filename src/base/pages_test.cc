#include "base/pages.h"

#include <gtest/gtest.h>

#include <cstring>

namespace headrace {
namespace {

TEST(Pages, AreAlignedAndWritableToTheirEnd) {
  for (const std::size_t alignment : {std::size_t{64}, std::size_t{4096}, std::size_t{2} << 20}) {
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{5000}, kMappedBytes - 1, kMappedBytes, std::size_t{5'000'001}}) {
      std::uint8_t* memory = allocate_memory(bytes, alignment);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0U);
      std::memset(memory, 7, bytes);
      EXPECT_EQ(memory[bytes - 1], 7);
      free_memory(memory, bytes);
    }
  }
}

TEST(Pages, WhatTheSystemDoesNotHaveIsNull) {
  EXPECT_EQ(allocate_memory(std::size_t{1} << 62, 64), nullptr);
  free_memory(nullptr, kMappedBytes);
}

}  // namespace
}  // namespace headrace
