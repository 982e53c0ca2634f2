#include "batch/record_batch.h"

#include <gtest/gtest.h>

#include <string>

#include "batch/stages.h"
#include "support/fake_source.h"

namespace headrace::testing {
namespace {

// "first:count" of each run.
std::string text_of(const std::vector<RecordRun>& runs) {
  std::string text;
  for (const RecordRun& run : runs) {
    text += (text.empty() ? "" : " ") + std::to_string(run.first) + ":" + std::to_string(run.count);
  }
  return text;
}

std::string epochs_of(const RecordBatch& batch) {
  std::string text = std::to_string(batch.epoch);
  for (const EpochStart& start : batch.later_epochs) {
    text += " " + std::to_string(start.row) + ":" + std::to_string(start.epoch);
  }
  return text;
}

// Rows 0-3 of epoch 5, 4-5 of epoch 6, 6-9 of epoch 7, in runs of two blocks.
RecordBatch ten_rows(RecordBlock* a, RecordBlock* b) {
  RecordBatch batch;
  batch.epoch = 5;
  batch.later_epochs = {{4, 6}, {6, 7}};
  batch.rows = 10;
  batch.runs = {{a, 0, 4}, {b, 10, 1}, {b, 3, 5}};
  return batch;
}

struct TakenOut {
  std::vector<std::int64_t> rows;
  const char* left;
  const char* taken;
  const char* epochs;
};

TEST(TakeRowsOut, RowsMoveUpWithTheirEpochs) {
  const TakenOut cases[] = {
      {{}, "0:4 10:1 3:5", "", "5 4:6 6:7"},
      {{0}, "1:3 10:1 3:5", "0:1", "5 3:6 5:7"},
      {{1, 2}, "0:1 3:1 10:1 3:5", "1:2", "5 2:6 4:7"},
      {{0, 1, 2, 3}, "10:1 3:5", "0:4", "6 2:7"},
      {{4, 5}, "0:4 4:4", "10:1 3:1", "5 4:7"},
      {{4, 5, 6, 7, 8, 9}, "0:4", "10:1 3:5", "5"},
      {{0, 1, 2, 3, 4, 5, 6, 7, 8}, "7:1", "0:4 10:1 3:4", "7"},
      {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "", "0:4 10:1 3:5", "5"},
  };
  for (const TakenOut& expected : cases) {
    RecordBlock a;
    RecordBlock b;
    RecordBatch batch = ten_rows(&a, &b);
    std::vector<RecordRun> taken;
    take_rows_out(expected.rows, &batch, &taken);
    EXPECT_EQ(text_of(batch.runs), expected.left);
    EXPECT_EQ(text_of(taken), expected.taken);
    EXPECT_EQ(epochs_of(batch), expected.epochs);
    EXPECT_EQ(batch.rows, 10 - std::ssize(expected.rows));
  }
}

TEST(TakeRowsOut, AStopRequestWhileMisfitsAreLookedForLosesNothing) {
  BlockPool blocks;
  const StageContext context{.op_id = 1, .blocks = &blocks};
  int asked = 0;
  const auto stage = make_batch(context, make_fake_source(&blocks, {.records = 10}), 4, false,
                                [&asked](const RecordBatch&, const std::stop_token&) -> Misfits {
                                  if (++asked == 1) return {{}, cancelled("closed")};
                                  if (asked == 2) return {{0, 3}, {}};
                                  return {};
                                });
  stage->begin_epoch(0);
  EXPECT_EQ(stage->pull({}).status().code(), StatusCode::kCancelled);
  std::vector<std::uint64_t> ordinals;
  for (auto batch = stage->pull({}); batch.ok() && batch->has_value(); batch = stage->pull({})) {
    for (const RecordRun& run : (*batch)->runs) {
      for (std::uint32_t i = 0; i < run.count; ++i) ordinals.push_back(record_id(run, i).ordinal);
    }
    EXPECT_EQ((*batch)->rows, 4);
    blocks.release((*batch)->runs);
  }
  EXPECT_EQ(ordinals, (std::vector<std::uint64_t>{1, 2, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(blocks.bytes_in_use(), 0);
}

}  // namespace
}  // namespace headrace::testing
