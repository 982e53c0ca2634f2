// The questions that every record stage is asked: works, empty, one, many, error, stop, save and restore, begin_epoch twice.
//
// A stage's test says how to make the stage over an input of a given shape and what must come out of it:
//
//   const bool kAsked = ask_record_stages({{.name = "take3", .make = ..., .expect = ...}});
//
// Every question is asked with pulls of 1, 4 and 20 records and with one that takes everything.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "batch/position_journal.h"
#include "record/record_stage.h"

namespace headrace::testing {

/// The input of the stage in one test.
struct InputPlan {
  std::int64_t records = 0;    ///< per epoch of the input
  std::int64_t fail_at = -1;   ///< the input fails in place of this record, in every epoch; -1: never
  std::int64_t block_at = -1;  ///< the input blocks in place of this record; -1: never
};

/// What one epoch of the stage hands out.
struct Expected {
  std::vector<std::int64_t> numbers;  ///< of the input's records; the first ones, for an endless stage
  bool fails = false;                 ///< a failure stands behind them, otherwise the end
  bool endless = false;               ///< nothing stands behind them
};

/// A stage and what it needs to live; members die from the bottom up.
struct RecordStageSubject {
  RecordStageSubject() = default;
  RecordStageSubject(RecordStageSubject&&) = default;
  RecordStageSubject& operator=(RecordStageSubject&&) = delete;  // would let go of the old world first

  std::shared_ptr<void> world;  ///< whatever else has to stay alive
  BlockPool* blocks = nullptr;
  std::shared_ptr<RecordFetcher> fetcher;
  std::unique_ptr<RecordStage> stage;
  std::function<std::int64_t(const RecordId&)> number;  ///< of the record in its epoch of the input
};

struct RecordStageCase {
  std::string name;
  std::function<RecordStageSubject(const InputPlan&)> make;
  std::function<Expected(const InputPlan&)> expect;
  bool in_order = true;   ///< false: the order is random, the records are counted only
  bool can_block = true;  ///< the input honours InputPlan::block_at
};

/// A record that was handed out, as tests compare it.
struct SeenRecord {
  std::uint32_t shard;
  std::uint64_t ordinal;
  std::uint64_t offset;
  std::string payload;
  bool operator==(const SeenRecord&) const = default;
};

inline void see(std::span<const RecordRun> runs, std::vector<SeenRecord>* seen) {
  for (const RecordRun& run : runs) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const RecordId id = record_id(run, i);
      const auto payload = run.block->payload(run.first + i);
      // Of a located record nothing but its place and size is known.
      std::string bytes =
          run.block->located() ? std::string(payload.size(), '?') : std::string(payload.begin(), payload.end());
      seen->push_back({id.shard, id.ordinal, id.offset, std::move(bytes)});
    }
  }
}

/// How a read ended.
struct ReadResult {
  std::vector<SeenRecord> records;
  bool ended = false;
  Status failure;
};

/// Pulls at most `pull_size` records a time until `limit` records, the end or a failure; releases what it got.
inline ReadResult read_records(const RecordStageSubject& subject, std::size_t pull_size, std::size_t limit,
                               const std::stop_token& stop = {}) {
  ReadResult result;
  const RecordRun mark{nullptr, 7, 7};
  while (result.records.size() < limit) {
    std::vector<RecordRun> runs{mark};
    const std::size_t ask = std::min(pull_size, limit - result.records.size());
    const Result<std::size_t> got = subject.stage->pull(ask, &runs, stop);
    EXPECT_EQ(runs[0].first, 7U) << "pull() appends";
    const std::span<const RecordRun> fresh = std::span<const RecordRun>(runs).subspan(1);
    const std::size_t before = result.records.size();
    see(fresh, &result.records);
    subject.blocks->release(fresh);
    const std::size_t count = result.records.size() - before;
    if (!got.ok()) {
      EXPECT_EQ(count, 0U) << "nothing comes with a failure";
      result.failure = got.status();
      return result;
    }
    EXPECT_EQ(*got, count);
    EXPECT_LE(count, ask);
    if (*got == 0) {
      result.ended = true;
      return result;
    }
  }
  return result;
}

constexpr std::size_t kContractPullSizes[] = {1, 4, 20, 100000};

/// How many records a test asks for: some beyond those that should come.
inline std::size_t limit_of(const Expected& expected) { return expected.numbers.size() + (expected.endless ? 0 : 3); }

inline void expect_epoch(const RecordStageCase& stage_case, const RecordStageSubject& subject, const ReadResult& read,
                         const Expected& expected) {
  std::vector<std::int64_t> numbers;
  for (const SeenRecord& record : read.records) {
    numbers.push_back(subject.number({record.shard, record.ordinal, record.offset}));
  }
  std::vector<std::int64_t> wanted = expected.numbers;
  if (!stage_case.in_order) {
    std::sort(numbers.begin(), numbers.end());
    std::sort(wanted.begin(), wanted.end());
  }
  EXPECT_EQ(numbers, wanted);
  if (expected.endless) return;
  EXPECT_EQ(read.ended, !expected.fails);
  EXPECT_EQ(read.failure.ok(), !expected.fails) << read.failure.to_string();
}

/// One epoch with every pull size: the right records, the same order, then the end or the failure for good.
inline void expect_whole(const RecordStageCase& stage_case, const InputPlan& plan) {
  const Expected expected = stage_case.expect(plan);
  std::optional<std::vector<SeenRecord>> first;
  for (const std::size_t pull_size : kContractPullSizes) {
    SCOPED_TRACE("pulls of " + std::to_string(pull_size) + ", input of " + std::to_string(plan.records) +
                 ", failure at " + std::to_string(plan.fail_at));
    const RecordStageSubject subject = stage_case.make(plan);
    subject.stage->begin_epoch(0);
    const ReadResult read = read_records(subject, pull_size, limit_of(expected));
    expect_epoch(stage_case, subject, read, expected);
    if (!first) first = read.records;
    EXPECT_EQ(read.records, *first) << "the size of the pulls changes the stream";
    for (int again = 0; again < 3 && !expected.endless; ++again) {
      const ReadResult more = read_records(subject, pull_size, 1);
      EXPECT_TRUE(more.records.empty());
      EXPECT_EQ(more.ended, !expected.fails);
      EXPECT_EQ(more.failure.to_string(), read.failure.to_string());
    }
  }
}

inline void ask_empty(const RecordStageCase& stage_case) { expect_whole(stage_case, {.records = 0}); }

inline void ask_one(const RecordStageCase& stage_case) { expect_whole(stage_case, {.records = 1}); }

inline void ask_many(const RecordStageCase& stage_case) {
  for (const std::int64_t records : {2, 4, 20, 21, 67}) expect_whole(stage_case, {.records = records});
}

inline void ask_error_has_its_place_and_is_repeated(const RecordStageCase& stage_case) {
  for (const std::int64_t fail_at : {0, 1, 4, 19, 41, 66})
    expect_whole(stage_case, {.records = 67, .fail_at = fail_at});
}

inline void ask_stop_ends_a_blocked_pull(const RecordStageCase& stage_case) {
  if (!stage_case.can_block) GTEST_SKIP() << "this input cannot block";
  const Expected whole = stage_case.expect({.records = 67});
  for (const int block_at : {0, 5, 30}) {
    const RecordStageSubject subject = stage_case.make({.records = 67, .block_at = block_at});
    subject.stage->begin_epoch(0);
    std::stop_source source;
    std::optional<ReadResult> read;
    std::thread reader([&] { read = read_records(subject, 4, 1000, source.get_token()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto asked = std::chrono::steady_clock::now();
    source.request_stop();
    reader.join();
    EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(5));
    if (read->ended) {
      EXPECT_EQ(read->records.size(), whole.numbers.size()) << "only who does not need the record ends without it";
      EXPECT_FALSE(whole.endless || whole.fails);
    } else {
      EXPECT_EQ(read->failure.code(), StatusCode::kCancelled) << read->failure.to_string();
    }
  }
}

inline void ask_restores_behind_every_record(const RecordStageCase& stage_case) {
  for (const InputPlan& plan :
       {InputPlan{.records = 1}, InputPlan{.records = 23}, InputPlan{.records = 23, .fail_at = 17}}) {
    const Expected expected = stage_case.expect(plan);
    const std::size_t limit = limit_of(expected);
    for (const std::size_t pull_size : {1, 4, 20}) {
      const RecordStageSubject first = stage_case.make(plan);
      first.stage->begin_epoch(3);
      const ReadResult whole = read_records(first, pull_size, limit);

      const RecordStageSubject subject = stage_case.make(plan);
      subject.stage->begin_epoch(3);
      DecodedState state;
      std::size_t read = 0;
      while (read < whole.records.size()) {
        read += read_records(subject, pull_size, std::min(pull_size, whole.records.size() - read)).records.size();
        StateDelta delta;
        subject.stage->save(&delta);
        apply(delta, &state);
        SCOPED_TRACE("restored behind record " + std::to_string(read) + " of " + std::to_string(plan.records));

        const Result<DecodedState> decoded = decode_state(encode_state(state));
        ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
        RecordStageSubject restored = stage_case.make(plan);
        StateReader reader(decoded->words, &decoded->slots);
        const Status status = restored.stage->restore(&reader, restored.fetcher.get());
        ASSERT_TRUE(status.ok()) << status.to_string();
        EXPECT_TRUE(reader.at_end());
        const ReadResult rest = read_records(restored, pull_size, limit - read);
        EXPECT_EQ(rest.records, std::vector<SeenRecord>(whole.records.begin() + static_cast<std::ptrdiff_t>(read),
                                                        whole.records.end()));
        EXPECT_EQ(rest.ended, whole.ended);
        EXPECT_EQ(rest.failure.to_string(), whole.failure.to_string());
        restored.stage.reset();
        EXPECT_EQ(restored.blocks->bytes_in_use(), 0) << "what came before the position is not kept either";
      }
    }
  }
}

inline void ask_says_when_a_state_ends_early(const RecordStageCase& stage_case) {
  const InputPlan plan{.records = 23};
  const RecordStageSubject subject = stage_case.make(plan);
  subject.stage->begin_epoch(0);
  read_records(subject, 4, 4);
  StateDelta delta;
  subject.stage->save(&delta);
  DecodedState state;
  apply(delta, &state);
  for (std::size_t words = 0; words < state.words.size(); ++words) {
    const RecordStageSubject restored = stage_case.make(plan);
    StateReader reader(std::span<const std::uint64_t>(state.words).first(words), &state.slots);
    EXPECT_EQ(restored.stage->restore(&reader, restored.fetcher.get()).code(), StatusCode::kInvalidArgument);
  }
}

inline void ask_begins_again_from_anywhere(const RecordStageCase& stage_case) {
  const InputPlan plan{.records = 23};
  const Expected expected = stage_case.expect(plan);
  for (const std::size_t before : {0, 1, 4, 20, 1000}) {
    SCOPED_TRACE("begun again behind " + std::to_string(before) + " records");
    const RecordStageSubject subject = stage_case.make(plan);
    subject.stage->begin_epoch(1);
    read_records(subject, 4, std::min(before, limit_of(expected)));
    subject.stage->begin_epoch(2);
    const ReadResult second = read_records(subject, 4, limit_of(expected));
    expect_epoch(stage_case, subject, second, expected);

    const RecordStageSubject fresh = stage_case.make(plan);
    fresh.stage->begin_epoch(2);
    EXPECT_EQ(read_records(fresh, 4, limit_of(expected)).records, second.records) << "the past changes the epoch";
  }
}

inline void ask_keeps_no_record_beyond_its_life(const RecordStageCase& stage_case) {
  for (const std::size_t before : {0, 1, 4, 1000}) {
    const InputPlan plan{.records = 23};
    RecordStageSubject subject = stage_case.make(plan);
    subject.stage->begin_epoch(0);
    read_records(subject, 4, std::min(before, limit_of(stage_case.expect(plan))));
    subject.stage.reset();
    EXPECT_EQ(subject.blocks->bytes_in_use(), 0) << "behind " << before << " records";
  }
}

class ContractTest : public ::testing::Test {
 public:
  explicit ContractTest(std::function<void()> ask) : ask_(std::move(ask)) {}
  void TestBody() override { ask_(); }

 private:
  std::function<void()> ask_;
};

/// Registers every question for every case; call it while static variables are initialised.
inline bool ask_record_stages(const std::vector<RecordStageCase>& cases) {
  struct Question {
    const char* name;
    void (*ask)(const RecordStageCase&);
  };
  constexpr Question kQuestions[] = {
      {"Empty", ask_empty},
      {"One", ask_one},
      {"Many", ask_many},
      {"ErrorHasItsPlaceAndIsRepeated", ask_error_has_its_place_and_is_repeated},
      {"StopEndsABlockedPull", ask_stop_ends_a_blocked_pull},
      {"RestoresBehindEveryRecord", ask_restores_behind_every_record},
      {"SaysWhenAStateEndsEarly", ask_says_when_a_state_ends_early},
      {"BeginsAgainFromAnywhere", ask_begins_again_from_anywhere},
      {"KeepsNoRecordBeyondItsLife", ask_keeps_no_record_beyond_its_life},
  };
  for (const RecordStageCase& stage_case : cases) {
    for (const Question& question : kQuestions) {
      ::testing::RegisterTest(("RecordStageContract/" + stage_case.name).c_str(), question.name, nullptr, nullptr,
                              __FILE__, __LINE__, [stage_case, question]() -> ContractTest* {
                                return new ContractTest([stage_case, question] { question.ask(stage_case); });
                              });
    }
  }
  return true;
}

}  // namespace headrace::testing
