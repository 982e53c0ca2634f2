#include <gtest/gtest.h>

#include "batch/stages.h"
#include "support/fake_source.h"

namespace headrace::testing {
namespace {

class CutBatchesTest : public ::testing::Test {
 protected:
  std::unique_ptr<RecordStage> source(const FakeSourceOptions& options) { return make_fake_source(&blocks_, options); }

  void cut(std::unique_ptr<RecordStage> input, std::int64_t size, bool drop_remainder) {
    stage_ = make_batch(context_, std::move(input), size, drop_remainder);
    stage_->begin_epoch(0);
  }

  /// Pulls once; -1 rows are the end, -2 a failure, which is in status_.
  std::int64_t rows_of_next() {
    auto batch = stage_->pull({});
    status_ = batch.status();
    if (!batch.ok()) return -2;
    if (!batch->has_value()) return -1;
    epoch_ = (*batch)->epoch;
    later_epochs_ = (*batch)->later_epochs;
    blocks_.release((*batch)->runs);
    return (*batch)->rows;
  }

  BlockPool blocks_;
  const StageContext context_{.op_id = 1, .blocks = &blocks_};
  std::unique_ptr<BatchStage> stage_;
  Status status_;
  std::int64_t epoch_ = -1;
  std::vector<EpochStart> later_epochs_;
};

TEST_F(CutBatchesTest, PartialBatchStandsBeforeAFailure) {
  cut(source({.records = 20, .fail_at = 10}), 4, false);
  EXPECT_EQ(rows_of_next(), 4);
  EXPECT_EQ(rows_of_next(), 4);
  EXPECT_EQ(rows_of_next(), 2);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(rows_of_next(), -2);
    EXPECT_EQ(status_.code(), StatusCode::kDataLoss);
    EXPECT_EQ(status_.message(), "a damaged record");
  }
}

TEST_F(CutBatchesTest, DroppedRemainderIsCountedInTheFailure) {
  cut(source({.records = 20, .fail_at = 10}), 4, true);
  EXPECT_EQ(rows_of_next(), 4);
  EXPECT_EQ(rows_of_next(), 4);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(rows_of_next(), -2);
    EXPECT_EQ(status_.message(), "a damaged record (2 records before it withheld: drop_remainder is set)");
    EXPECT_EQ(status_.where().path, "fake");
    EXPECT_EQ(status_.where().record, 10);
  }
}

TEST_F(CutBatchesTest, NothingIsWithheldWhereABatchEndsAtTheFailure) {
  cut(source({.records = 20, .fail_at = 8}), 4, true);
  EXPECT_EQ(rows_of_next(), 4);
  EXPECT_EQ(rows_of_next(), 4);
  EXPECT_EQ(rows_of_next(), -2);
  EXPECT_EQ(status_.message(), "a damaged record");
}

TEST_F(CutBatchesTest, BatchesStraddleEpochsBehindARepeat) {
  cut(make_repeat(context_, source({.records = 5}), 3), 4, false);
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t rows = rows_of_next(); rows > 0; rows = rows_of_next()) seen.emplace_back(rows, epoch_);
  EXPECT_EQ(seen, (std::vector<std::pair<std::int64_t, std::int64_t>>{{4, 0}, {4, 0}, {4, 1}, {3, 2}}));
}

TEST_F(CutBatchesTest, ABatchTellsWhereAnotherEpochBegins) {
  cut(make_repeat(context_, source({.records = 3}), 4), 7, false);
  EXPECT_EQ(rows_of_next(), 7);
  ASSERT_EQ(later_epochs_.size(), 2U);
  EXPECT_EQ(later_epochs_[0].row, 3);
  EXPECT_EQ(later_epochs_[0].epoch, 1);
  EXPECT_EQ(later_epochs_[1].row, 6);
  EXPECT_EQ(later_epochs_[1].epoch, 2);
  EXPECT_EQ(rows_of_next(), 5);
  EXPECT_EQ(epoch_, 2);
  ASSERT_EQ(later_epochs_.size(), 1U);
  EXPECT_EQ(later_epochs_[0].row, 2);
}

TEST_F(CutBatchesTest, FusedShuffleTellsTheEpochOfTheFirstRow) {
  cut(make_shuffle(context_, source({.records = 5}), {.buffer_size = 4, .epochs = 3}), 5, false);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(rows_of_next(), 5);
    EXPECT_EQ(epoch_, epoch);
  }
  EXPECT_EQ(rows_of_next(), -1);
}

TEST_F(CutBatchesTest, RepeatOfBatchesStopsAtTheEdge) {
  stage_ = make_repeat_batches(context_, make_batch(context_, source({.records = 5}), 4, false), 2);
  stage_->begin_epoch(7);
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t rows = rows_of_next(); rows > 0; rows = rows_of_next()) seen.emplace_back(rows, epoch_);
  EXPECT_EQ(seen, (std::vector<std::pair<std::int64_t, std::int64_t>>{{4, 7}, {1, 7}, {4, 8}, {1, 8}}));
}

TEST_F(CutBatchesTest, EndlessRepeatWithoutAWholeBatchIsAFailure) {
  stage_ = make_repeat_batches(context_, make_batch(context_, source({.records = 3}), 4, true), -1);
  stage_->begin_epoch(0);
  EXPECT_EQ(rows_of_next(), -2);
  EXPECT_EQ(status_.code(), StatusCode::kInvalidArgument);
}

TEST_F(CutBatchesTest, RowsSurviveAStopRequest) {
  cut(source({.records = 20, .block_at = 6}), 4, false);
  EXPECT_EQ(rows_of_next(), 4);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(stage_->pull(stop.get_token()).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(blocks_.bytes_in_use() > 0, true);
  stage_.reset();
  EXPECT_EQ(blocks_.bytes_in_use(), 0);
}

}  // namespace
}  // namespace headrace::testing
