// The questions of record_stage_contract.h for stages that hand out batches.
//
//   const bool kAsked = ask_batch_stages({{.name = "batch4", .make = ..., .expect = ...}});
#pragma once

#include "batch/batch_stage.h"
#include "contract/record_stage_contract.h"

namespace headrace::testing {

/// What one pass over the stage hands out.
struct ExpectedBatches {
  std::vector<std::vector<std::int64_t>> batches;  ///< numbers of the input's records; the first ones, if endless
  bool fails = false;
  bool endless = false;
};

struct BatchStageSubject {
  BatchStageSubject() = default;
  BatchStageSubject(BatchStageSubject&&) = default;
  BatchStageSubject& operator=(BatchStageSubject&&) = delete;  // would let go of the old world first

  std::shared_ptr<void> world;  ///< whatever else has to stay alive
  BlockPool* blocks = nullptr;
  std::shared_ptr<RecordFetcher> fetcher;
  std::unique_ptr<BatchStage> stage;
  std::function<std::int64_t(const RecordId&)> number;  ///< of the record in its epoch of the input
};

struct BatchStageCase {
  std::string name;
  std::function<BatchStageSubject(const InputPlan&)> make;
  std::function<ExpectedBatches(const InputPlan&)> expect;
  bool in_order = true;  ///< false: only the sizes of the batches are known
};

struct SeenBatch {
  std::int64_t number;
  std::int64_t epoch;
  std::vector<SeenRecord> rows;
  bool operator==(const SeenBatch&) const = default;
};

struct BatchReadResult {
  std::vector<SeenBatch> batches;
  std::vector<DecodedState> states;  ///< behind each batch, as the deltas add up
  bool ended = false;
  Status failure;
};

/// Pulls until `limit` batches, the end or a failure; releases what it got. `state` is where the stage stands.
inline BatchReadResult read_batches(const BatchStageSubject& subject, std::size_t limit, DecodedState state = {},
                                    const std::stop_token& stop = {}) {
  BatchReadResult result;
  while (result.batches.size() < limit) {
    const Result<std::optional<RecordBatch>> got = subject.stage->pull(stop);
    if (!got.ok()) {
      result.failure = got.status();
      return result;
    }
    if (!got->has_value()) {
      result.ended = true;
      return result;
    }
    const RecordBatch& batch = **got;
    if (is_for_cache_alone(batch)) {
      subject.blocks->release(batch.runs);
      continue;
    }
    SeenBatch seen{batch.number, batch.epoch, {}};
    see(batch.runs, &seen.rows);
    EXPECT_EQ(static_cast<std::int64_t>(seen.rows.size()), batch.rows);
    subject.blocks->release(batch.runs);
    result.batches.push_back(std::move(seen));
    apply(batch.state, &state);
    result.states.push_back(state);
  }
  return result;
}

inline std::size_t limit_of(const ExpectedBatches& expected) {
  return expected.batches.size() + (expected.endless ? 0 : 2);
}

inline void expect_batches(const BatchStageCase& stage_case, const BatchStageSubject& subject,
                           const BatchReadResult& read, const ExpectedBatches& expected) {
  ASSERT_EQ(read.batches.size(), expected.batches.size());
  for (std::size_t i = 0; i < expected.batches.size(); ++i) {
    std::vector<std::int64_t> numbers;
    for (const SeenRecord& row : read.batches[i].rows) {
      numbers.push_back(subject.number({row.shard, row.ordinal, row.offset}));
    }
    EXPECT_EQ(numbers.size(), expected.batches[i].size()) << "batch " << i;
    if (stage_case.in_order) {
      EXPECT_EQ(numbers, expected.batches[i]) << "batch " << i;
    }
    EXPECT_EQ(read.batches[i].number, read.batches[0].number + static_cast<std::int64_t>(i));
  }
  if (expected.endless) return;
  EXPECT_EQ(read.ended, !expected.fails);
  EXPECT_EQ(read.failure.ok(), !expected.fails) << read.failure.to_string();
}

inline void expect_whole(const BatchStageCase& stage_case, const InputPlan& plan) {
  SCOPED_TRACE("input of " + std::to_string(plan.records) + ", failure at " + std::to_string(plan.fail_at));
  const ExpectedBatches expected = stage_case.expect(plan);
  const BatchStageSubject subject = stage_case.make(plan);
  subject.stage->begin_epoch(0);
  const BatchReadResult read = read_batches(subject, limit_of(expected));
  expect_batches(stage_case, subject, read, expected);
  if (!read.batches.empty()) {
    EXPECT_EQ(read.batches[0].number, 0);
  }
  for (int again = 0; again < 3 && !expected.endless; ++again) {
    const BatchReadResult more = read_batches(subject, 1);
    EXPECT_TRUE(more.batches.empty());
    EXPECT_EQ(more.ended, !expected.fails);
    EXPECT_EQ(more.failure.to_string(), read.failure.to_string());
  }
}

inline void ask_batches_empty(const BatchStageCase& stage_case) { expect_whole(stage_case, {.records = 0}); }

inline void ask_batches_one(const BatchStageCase& stage_case) { expect_whole(stage_case, {.records = 1}); }

inline void ask_batches_many(const BatchStageCase& stage_case) {
  for (const std::int64_t records : {2, 4, 20, 21, 67}) expect_whole(stage_case, {.records = records});
}

inline void ask_batches_error(const BatchStageCase& stage_case) {
  for (const std::int64_t fail_at : {0, 1, 4, 19, 41, 66}) {
    expect_whole(stage_case, {.records = 67, .fail_at = fail_at});
  }
}

inline void ask_batches_stop(const BatchStageCase& stage_case) {
  const ExpectedBatches whole = stage_case.expect({.records = 67});
  for (const int block_at : {0, 5, 30}) {
    const BatchStageSubject subject = stage_case.make({.records = 67, .block_at = block_at});
    subject.stage->begin_epoch(0);
    std::stop_source source;
    std::optional<BatchReadResult> read;
    std::thread reader([&] { read = read_batches(subject, 1000, {}, source.get_token()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto asked = std::chrono::steady_clock::now();
    source.request_stop();
    reader.join();
    EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(5));
    if (read->ended) {
      EXPECT_EQ(read->batches.size(), whole.batches.size()) << "only who does not need the record ends without it";
      EXPECT_FALSE(whole.endless || whole.fails);
    } else {
      EXPECT_EQ(read->failure.code(), StatusCode::kCancelled) << read->failure.to_string();
    }
  }
}

inline void ask_batches_restore(const BatchStageCase& stage_case) {
  for (const InputPlan& plan :
       {InputPlan{.records = 1}, InputPlan{.records = 53}, InputPlan{.records = 53, .fail_at = 37}}) {
    const ExpectedBatches expected = stage_case.expect(plan);
    const BatchStageSubject subject = stage_case.make(plan);
    subject.stage->begin_epoch(3);
    const BatchReadResult whole = read_batches(subject, limit_of(expected));
    for (std::size_t read = 1; read <= whole.batches.size(); ++read) {
      SCOPED_TRACE("restored behind batch " + std::to_string(read) + " of " + std::to_string(whole.batches.size()));
      const Result<DecodedState> state = decode_state(encode_state(whole.states[read - 1]));
      ASSERT_TRUE(state.ok()) << state.status().to_string();
      const BatchStageSubject restored = stage_case.make(plan);
      StateReader reader(state->words, &state->slots);
      const Status status = restored.stage->restore(&reader, restored.fetcher.get());
      ASSERT_TRUE(status.ok()) << status.to_string();
      EXPECT_TRUE(reader.at_end());
      const BatchReadResult rest = read_batches(restored, limit_of(expected) - read, *state);
      EXPECT_EQ(rest.batches,
                std::vector<SeenBatch>(whole.batches.begin() + static_cast<std::ptrdiff_t>(read), whole.batches.end()));
      for (std::size_t i = 0; i < rest.states.size() && read + i < whole.states.size(); ++i) {
        EXPECT_EQ(encode_state(rest.states[i]), encode_state(whole.states[read + i])) << "the states go on alike";
      }
      EXPECT_EQ(rest.ended, whole.ended);
      EXPECT_EQ(rest.failure.to_string(), whole.failure.to_string());
    }
  }
}

inline void ask_batches_begin_twice(const BatchStageCase& stage_case) {
  const InputPlan plan{.records = 53};
  const ExpectedBatches expected = stage_case.expect(plan);
  for (const std::size_t before : {0, 1, 2, 1000}) {
    SCOPED_TRACE("begun again behind " + std::to_string(before) + " batches");
    const BatchStageSubject subject = stage_case.make(plan);
    subject.stage->begin_epoch(1);
    const std::size_t passed = read_batches(subject, std::min(before, limit_of(expected))).batches.size();
    subject.stage->begin_epoch(2);
    BatchReadResult second = read_batches(subject, limit_of(expected));
    expect_batches(stage_case, subject, second, expected);

    const BatchStageSubject fresh = stage_case.make(plan);
    fresh.stage->begin_epoch(2);
    for (SeenBatch& batch : second.batches) batch.number -= static_cast<std::int64_t>(passed);
    EXPECT_EQ(read_batches(fresh, limit_of(expected)).batches, second.batches) << "the past changes the pass";
  }
}

inline void ask_batches_to_let_go(const BatchStageCase& stage_case) {
  for (const std::size_t before : {0, 1, 2, 1000}) {
    const InputPlan plan{.records = 53};
    BatchStageSubject subject = stage_case.make(plan);
    subject.stage->begin_epoch(0);
    read_batches(subject, std::min(before, limit_of(stage_case.expect(plan))));
    subject.stage.reset();
    EXPECT_EQ(subject.blocks->bytes_in_use(), 0) << "behind " << before << " batches";
  }
}

/// Registers every question for every case; call it while static variables are initialised.
inline bool ask_batch_stages(const std::vector<BatchStageCase>& cases) {
  struct Question {
    const char* name;
    void (*ask)(const BatchStageCase&);
  };
  constexpr Question kQuestions[] = {
      {"Empty", ask_batches_empty},
      {"One", ask_batches_one},
      {"Many", ask_batches_many},
      {"ErrorHasItsPlaceAndIsRepeated", ask_batches_error},
      {"StopEndsABlockedPull", ask_batches_stop},
      {"RestoresBehindEveryBatch", ask_batches_restore},
      {"BeginsAgainFromAnywhere", ask_batches_begin_twice},
      {"KeepsNoRecordBeyondItsLife", ask_batches_to_let_go},
  };
  for (const BatchStageCase& stage_case : cases) {
    for (const Question& question : kQuestions) {
      ::testing::RegisterTest(("BatchStageContract/" + stage_case.name).c_str(), question.name, nullptr, nullptr,
                              __FILE__, __LINE__, [stage_case, question]() -> ContractTest* {
                                return new ContractTest([stage_case, question] { question.ask(stage_case); });
                              });
    }
  }
  return true;
}

}  // namespace headrace::testing
