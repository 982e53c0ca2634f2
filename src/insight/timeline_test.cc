#include "insight/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace {
namespace {

using ::testing::ElementsAre;

TEST(Timeline, AStepLastsUntilTheNextWait) {
  const std::vector<TraceThread> timeline =
      make_timeline({{kWaitSpan, -1, 7, 10, 15}, {kWaitSpan, -1, 7, 20, 21}, {kWaitSpan, -1, 8, 22, 30}}, 40);
  ASSERT_EQ(timeline.size(), 2U);
  ASSERT_EQ(timeline[0].steps.size(), 2U);
  const TraceStep& first = timeline[0].steps[0];
  EXPECT_THAT((std::vector{first.number, first.begin_ns, first.ready_ns, first.end_ns}), ElementsAre(1, 10, 15, 20));
  EXPECT_EQ(timeline[0].steps[1].end_ns, 40);
  EXPECT_EQ(timeline[1].id, 8);
  EXPECT_EQ(timeline[1].name, "consumer");
  EXPECT_EQ(timeline[1].steps[0].end_ns, 40);
}

TEST(Timeline, SpansOfAThreadDoNotReachIntoEachOther) {
  const std::vector<TraceThread> timeline =
      make_timeline({{"read", -1, 3, 1, 5}, {"parse", 0, 3, 4, 9}, {"deliver", 0, 3, 9, 9}, {"parse", 1, 3, 6, 8}}, 10);
  ASSERT_EQ(timeline.size(), 1U);
  EXPECT_EQ(timeline[0].name, "headrace: parse, read");
  ASSERT_EQ(timeline[0].spans.size(), 2U) << "a moment, and one that lies inside another, are left out";
  EXPECT_EQ(timeline[0].spans[1].begin_ns, 5);
  EXPECT_EQ(timeline[0].spans[1].end_ns, 9);
}

TEST(Timeline, ABatchIsReadyBetweenItsLastTaskAndItsDelivery) {
  // Two streams count their batches from 0 both.
  const std::vector<ReadyBatches> ready = ready_batches({{"parse", 0, 1, 1, 5, 1},
                                                         {"parse", 0, 2, 2, 8, 1},
                                                         {"parse", 0, 3, 3, 6, 2},
                                                         {"deliver", 0, 4, 9, 9, 1},
                                                         {"deliver", 7, 4, 10, 10, 1}});
  std::vector<std::pair<std::int64_t, std::int64_t>> counts;
  for (const ReadyBatches& change : ready) counts.emplace_back(change.at_ns, change.count);
  EXPECT_THAT(counts, ElementsAre(std::pair(6, 1), std::pair(8, 2), std::pair(9, 1)));
}

}  // namespace
}  // namespace headrace
