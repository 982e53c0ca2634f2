#include "replica/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Weights = std::vector<std::int64_t>;

// Of `replicas` equal ones.
Weights equal(int replicas) { return Weights(static_cast<std::size_t>(replicas), 1); }

TEST(SplitRows, SizesDifferByAtMostOneLargerFirst) {
  EXPECT_THAT(split_rows(1024, equal(4)), ElementsAre(256, 256, 256, 256));
  EXPECT_THAT(split_rows(10, equal(4)), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(split_rows(7, equal(1)), ElementsAre(7));
  EXPECT_THAT(split_rows(2, equal(4)), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(split_rows(0, equal(3)), ElementsAre(0, 0, 0));
}

TEST(SplitRows, SharesByWeight) {
  EXPECT_THAT(split_rows(80, Weights({2, 1, 1})), ElementsAre(40, 20, 20));
  EXPECT_THAT(split_rows(7, Weights({2, 1, 1})), ElementsAre(3, 2, 2));
  EXPECT_THAT(split_rows(6, Weights({2, 1, 1})), ElementsAre(3, 2, 1));
  EXPECT_THAT(split_rows(1, Weights({1, 3})), ElementsAre(0, 1));
  EXPECT_THAT(split_rows(std::int64_t{1} << 40, Weights({1, 1023})), ElementsAre(std::int64_t{1} << 30, 1023LL << 30));
}

TEST(RowsBefore, AreThoseOfTheReplicasBefore) {
  EXPECT_EQ(rows_before({.weights = equal(4)}, 10, 3), 0);
  EXPECT_EQ(rows_before({.weights = equal(4), .first = 3, .local = 1}, 10, 2), 8);
  EXPECT_EQ(rows_before({.weights = {2, 1, 1}, .pads = true, .first = 2, .local = 1}, 3, 20), 60);
}

TEST(CheckGlobalBatch, TakesMultiples) {
  EXPECT_TRUE(check_global_batch(1024, equal(4)).ok());
  EXPECT_TRUE(check_global_batch(3, equal(3)).ok());
  EXPECT_TRUE(check_global_batch(5, equal(1)).ok());
}

TEST(CheckGlobalBatch, NamesTheNearestSizesThatWork) {
  const Status status = check_global_batch(1023, equal(4));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("1020 and 1024"));
}

TEST(CheckGlobalBatch, NamesOnlyTheLargerSizeWhenTheSmallerWouldBeEmpty) {
  const Status status = check_global_batch(3, equal(4));
  EXPECT_THAT(status.message(), HasSubstr("work: 4"));
  EXPECT_THAT(status.message(), ::testing::Not(HasSubstr("0 and")));
}

TEST(CheckGlobalBatch, TakesWhatTheWeightsDivide) {
  EXPECT_TRUE(check_global_batch(80, Weights({2, 1, 1})).ok());
  EXPECT_TRUE(check_global_batch(6, Weights({4, 2})).ok());
  const Status status = check_global_batch(82, Weights({2, 1, 1}));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("in proportion to their weights by 3 replicas"));
  EXPECT_THAT(status.message(), HasSubstr("80 and 84"));
}

TEST(CheckGlobalBatch, RefusesNothing) {
  EXPECT_EQ(check_global_batch(0, equal(4)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(check_global_batch(4, {}).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace headrace
