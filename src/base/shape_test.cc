#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "headrace/types.h"

namespace headrace::testing {
namespace {

TEST(Shape, IsASequenceLikeAVectorOfAnyLength) {
  Shape shape;
  std::vector<std::int64_t> same;
  for (std::int64_t i = 0; i < 20; ++i) {
    shape.push_back(i);
    same.push_back(i);
    ASSERT_EQ(shape.size(), same.size());
    ASSERT_TRUE(std::equal(shape.begin(), shape.end(), same.begin(), same.end()));
    ASSERT_EQ(shape.front(), 0);
    ASSERT_EQ(shape.back(), i);
  }
  shape.clear();
  EXPECT_TRUE(shape.empty());
}

TEST(Shape, CopiesAndMovesBothFewAndManyDimensions) {
  for (const std::size_t rank : {0U, 1U, 4U, 5U, 9U}) {
    std::vector<std::int64_t> dimensions(rank);
    std::iota(dimensions.begin(), dimensions.end(), 1);
    const Shape shape(dimensions.begin(), dimensions.end());
    Shape copy = shape;
    EXPECT_EQ(copy, shape);
    const Shape moved = std::move(copy);
    EXPECT_EQ(moved, shape);
    copy = {7, 8, 9};
    EXPECT_EQ(copy, (Shape{7, 8, 9}));
    copy = moved;
    copy.push_back(5);
    EXPECT_EQ(moved, shape) << "a copy has dimensions of its own";
    EXPECT_FALSE(copy == shape);
    EXPECT_EQ(element_count(shape), element_count(moved));
  }
}

TEST(Shape, InsertsAnywhere) {
  Shape shape{3, 4};
  shape.insert(shape.begin(), 1);
  const Shape more{5, 6, 7};
  shape.insert(shape.end(), more.begin(), more.end());
  shape.insert(shape.begin() + 1, 2);
  EXPECT_EQ(shape, (Shape{1, 2, 3, 4, 5, 6, 7}));
  shape.insert(shape.begin() + 2, more.begin(), more.begin());
  EXPECT_EQ(shape.size(), 7U);
}

}  // namespace
}  // namespace headrace::testing
