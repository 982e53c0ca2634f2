#include "replica/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SplitRows, SizesDifferByAtMostOneLargerFirst) {
  EXPECT_THAT(split_rows(1024, 4), ElementsAre(256, 256, 256, 256));
  EXPECT_THAT(split_rows(10, 4), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(split_rows(7, 1), ElementsAre(7));
  EXPECT_THAT(split_rows(2, 4), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(split_rows(0, 3), ElementsAre(0, 0, 0));
}

TEST(CheckGlobalBatch, TakesMultiples) {
  EXPECT_TRUE(check_global_batch(1024, 4).ok());
  EXPECT_TRUE(check_global_batch(3, 3).ok());
  EXPECT_TRUE(check_global_batch(5, 1).ok());
}

TEST(CheckGlobalBatch, NamesTheNearestSizesThatWork) {
  const Status status = check_global_batch(1023, 4);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("1020 and 1024"));
}

TEST(CheckGlobalBatch, NamesOnlyTheLargerSizeWhenTheSmallerWouldBeEmpty) {
  const Status status = check_global_batch(3, 4);
  EXPECT_THAT(status.message(), HasSubstr("work: 4"));
  EXPECT_THAT(status.message(), ::testing::Not(HasSubstr("0 and")));
}

TEST(CheckGlobalBatch, RefusesNothing) {
  EXPECT_EQ(check_global_batch(0, 4).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(check_global_batch(4, 0).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace headrace
