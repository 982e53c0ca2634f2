// Any allocation of any thread may fail: the stream then ends with a failure that says so, and the process goes on.
#include "headrace/no_memory.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "pipeline/pipeline_test_data.h"
#include "support/allocation_count.h"

namespace headrace {
namespace {

constexpr std::int64_t kAll = std::int64_t{1} << 40;

struct Case {
  const char* name;
  std::function<Dataset(const Dataset&)> steps;
};

// Every stage that holds records, and the ways in which batches are made.
const Case kCases[] = {
    {"Shuffled",
     [](const Dataset& files) {
       return files.interleave({.cycle_length = 2, .block_length = 4})
           .shuffle({.buffer_size = 30, .seed = 1})
           .batch({.size = 25})
           .parse(full_schema());
     }},
    {"Records", [](const Dataset& files) { return files.take(5).repeat(2); }},
    {"Chosen",
     [](const Dataset& files) {
       return sample_from_datasets({files.shuffle({.buffer_size = 20, .seed = 1}), files.skip(20)}, {.seed = 1})
           .shard(2, 1)
           .batch({.size = 24, .drop_remainder = true})
           .parse(full_schema())
           .prefetch_to_device({.devices = {"/CPU:0", "/CPU:1"}});
     }},
};

// Batches before the failure, and the failure.
struct Outcome {
  std::int64_t batches = 0;
  Status failure;
};

class NoMemory : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    paths_ = write_shards(folder_, {40, 40, 40});
    (void)read_all(0, 0);  // what is made once in a process
    const std::int64_t before = testing::allocation_count();
    const Outcome all = read_all(0, 0);
    ASSERT_TRUE(all.failure.ok()) << all.failure.to_string();
    batches_ = all.batches;
    allocations_ = testing::allocation_count() - before;
  }

  // Of the allocations of a whole life, `count` from number `first` on fail.
  Outcome read_all(std::int64_t first, std::int64_t count) {
    Outcome outcome;
    {
      std::optional<Pipeline> pipeline;
      const Dataset steps = GetParam().steps(TFRecordDataset({paths_, true}));
      testing::fail_allocations(first, count);
      outcome.failure = or_no_memory([&]() -> Status {
        HEADRACE_ASSIGN_OR_RETURN(pipeline, steps.open());
        for (;; ++outcome.batches) {
          if (pipeline->replicas() > 1) {
            HEADRACE_ASSIGN_OR_RETURN(const std::optional<Slice> ahead, pipeline->next_slice(0));
            HEADRACE_ASSIGN_OR_RETURN(const std::optional<Slice> slice, pipeline->next_slice(1));
            if (!ahead || !slice) return {};
          } else {
            HEADRACE_ASSIGN_OR_RETURN(const std::optional<Batch> batch, pipeline->next());
            if (!batch) return {};
          }
        }
      });
      const bool is_open = pipeline.has_value();
      if (outcome.failure.ok()) {
        pipeline.reset();  // closing needs no memory
      }
      testing::fail_allocations(0, 0);
      if (is_open && !outcome.failure.ok()) {
        EXPECT_EQ(pipeline->next().status().code(), StatusCode::kResourceExhausted);  // it stays
      }
    }
    return outcome;
  }

  void expect_end_or_failure(std::int64_t first, std::int64_t count) {
    const std::int64_t live = testing::live_allocations();
    check(read_all(first, count), first);
    EXPECT_EQ(testing::live_allocations(), live) << first;
  }

  void check(const Outcome& outcome, std::int64_t first) {
    if (outcome.failure.ok()) {
      EXPECT_EQ(outcome.batches, batches_) << first;
    } else {
      EXPECT_EQ(outcome.failure.code(), StatusCode::kResourceExhausted) << first << outcome.failure.to_string();
      EXPECT_NE(outcome.failure.message().find("memory"), std::string::npos) << first;
      ++failures_;
    }
  }

  const TemporaryFolder folder_;
  std::vector<std::string> paths_;
  std::int64_t batches_ = 0;
  std::int64_t allocations_ = 0;
  int failures_ = 0;
};

TEST_P(NoMemory, OneAllocationFails) {
  for (std::int64_t first = 0; first < allocations_; ++first) expect_end_or_failure(first, 1);
  EXPECT_GT(failures_, allocations_ / 2);
}

TEST_P(NoMemory, AllAllocationsFailFromOneOn) {
  for (std::int64_t first = 0; first < allocations_; first += 1 + first / 50) expect_end_or_failure(first, kAll);
  EXPECT_GT(failures_, 100);
}

INSTANTIATE_TEST_SUITE_P(Cases, NoMemory, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace headrace
