// The contract suite over the batch stages of src/batch, alone and in chains.
#include "batch/stages.h"
#include "contract/batch_stage_contract.h"
#include "support/fake_source.h"

namespace headrace::testing {
namespace {

using Wrap = std::function<std::unique_ptr<BatchStage>(const StageContext&, std::unique_ptr<RecordStage>)>;
using Model = std::function<ExpectedBatches(const Expected&)>;

BatchStageCase stage_case(const std::string& name, const Wrap& wrap, const Model& model, bool in_order = true) {
  return {.name = name,
          .make =
              [wrap](const InputPlan& plan) {
                auto blocks = std::make_shared<BlockPool>();
                const FakeSourceOptions options{.records = plan.records,
                                                .fail_at = plan.fail_at,
                                                .block_at = plan.block_at,
                                                .shards = 3,
                                                .lists = true,
                                                .chunk_seed = 11};
                BatchStageSubject subject;
                subject.blocks = blocks.get();
                subject.fetcher = make_fake_fetcher(blocks.get(), options);
                subject.stage = wrap({.op_id = 5, .blocks = blocks.get()}, make_fake_source(blocks.get(), options));
                subject.number = [](const RecordId& id) { return fake_number(id, 3); };
                subject.world = std::move(blocks);
                return subject;
              },
          .expect =
              [model](const InputPlan& plan) {
                Expected epoch{.fails = plan.fail_at >= 0};
                for (std::int64_t i = 0; i < (epoch.fails ? plan.fail_at : plan.records); ++i) {
                  epoch.numbers.push_back(i);
                }
                return model(epoch);
              },
          .in_order = in_order};
}

ExpectedBatches batch_model(const Expected& stream, std::size_t size, bool drop_remainder) {
  ExpectedBatches expected{.fails = stream.fails, .endless = stream.endless};
  for (std::size_t i = 0; i < stream.numbers.size(); i += size) {
    const std::size_t end = std::min(i + size, stream.numbers.size());
    if (end - i < size && (drop_remainder || stream.endless)) break;
    expected.batches.emplace_back(stream.numbers.begin() + static_cast<std::ptrdiff_t>(i),
                                  stream.numbers.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return expected;
}

Expected repeat_model(const Expected& epoch, int count) {
  if (epoch.fails) return epoch;
  if (epoch.numbers.empty()) return {.fails = count < 0};
  Expected all{.endless = count < 0};
  for (int i = 0; i < (count < 0 ? 3 : count); ++i) {
    all.numbers.insert(all.numbers.end(), epoch.numbers.begin(), epoch.numbers.end());
  }
  return all;
}

ExpectedBatches repeat_batches_model(const ExpectedBatches& pass, int count) {
  if (count == 0) return {};
  if (pass.fails) return pass;
  if (pass.batches.empty()) return {.fails = count < 0};
  ExpectedBatches all{.endless = count < 0};
  for (int i = 0; i < (count < 0 ? 3 : count); ++i) {
    all.batches.insert(all.batches.end(), pass.batches.begin(), pass.batches.end());
  }
  return all;
}

ExpectedBatches take_model(ExpectedBatches pass, std::size_t count) {
  if (pass.batches.size() < count) return pass;
  pass.batches.resize(count);
  pass.fails = pass.endless = false;
  return pass;
}

ExpectedBatches skip_model(ExpectedBatches pass, std::size_t count) {
  const std::size_t gone = std::min(count, pass.batches.size());
  pass.batches.erase(pass.batches.begin(), pass.batches.begin() + static_cast<std::ptrdiff_t>(gone));
  return pass;
}

BatchStageCase batch_case(const std::string& name, std::size_t size, bool drop_remainder) {
  return stage_case(
      name,
      [=](const StageContext& c, auto input) {
        return make_batch(c, std::move(input), static_cast<std::int64_t>(size), drop_remainder);
      },
      [=](const Expected& epoch) { return batch_model(epoch, size, drop_remainder); });
}

/// Batches of 4 with the last one whole or not, and an op behind them.
template <class Make, class After>
BatchStageCase behind_case(const std::string& name, Make make, After model) {
  return stage_case(
      name, [=](const StageContext& c, auto input) { return make(c, make_batch(c, std::move(input), 4, false)); },
      [=](const Expected& epoch) { return model(batch_model(epoch, 4, false)); });
}

BatchStageCase take_case(const std::string& name, int count) {
  return behind_case(
      name, [=](const StageContext& c, auto input) { return make_take_batches(c, std::move(input), count); },
      [=](const ExpectedBatches& pass) {
        return count < 0 ? pass : take_model(pass, static_cast<std::size_t>(count));
      });
}

BatchStageCase skip_case(const std::string& name, int count) {
  return behind_case(
      name, [=](const StageContext& c, auto input) { return make_skip_batches(c, std::move(input), count); },
      [=](const ExpectedBatches& pass) {
        return count < 0 ? ExpectedBatches{} : skip_model(pass, static_cast<std::size_t>(count));
      });
}

BatchStageCase repeat_case(const std::string& name, int count) {
  return behind_case(
      name, [=](const StageContext& c, auto input) { return make_repeat_batches(c, std::move(input), count); },
      [=](const ExpectedBatches& pass) { return repeat_batches_model(pass, count); });
}

/// Buckets of lists of 0 to 1, 2 to 4, and more values.
BatchStageCase bucket_case(const std::string& name, const std::vector<std::int64_t>& sizes, bool drop_remainder,
                           int epochs = 1) {
  const BucketOptions options{.key = "list", .boundaries = {2, 5}, .sizes = sizes, .drop_remainder = drop_remainder};
  return stage_case(
      name,
      [=](const StageContext& c, auto input) {
        if (epochs > 1) input = make_repeat(c, std::move(input), epochs);
        return make_bucket_batches(c, std::move(input), options);
      },
      [=](const Expected& epoch) {
        const Expected stream = repeat_model(epoch, epochs);
        ExpectedBatches expected{.fails = stream.fails};
        std::vector<std::vector<std::int64_t>> buckets(3);
        for (const std::int64_t number : stream.numbers) {
          const std::int64_t length = number % kFakeLists;
          const std::size_t at = length < 2 ? 0 : length < 5 ? 1 : 2;
          buckets[at].push_back(number);
          if (std::ssize(buckets[at]) == sizes[at]) expected.batches.push_back(std::exchange(buckets[at], {}));
        }
        for (const auto& bucket : buckets) {
          if (!bucket.empty() && !drop_remainder) expected.batches.push_back(bucket);
        }
        return expected;
      });
}

BatchStageCase shuffled_case(const std::string& name, std::int64_t buffer_size, int epochs, std::size_t size,
                             bool drop_remainder) {
  return stage_case(
      name,
      [=](const StageContext& c, auto input) {
        auto shuffled = make_shuffle({.op_id = 2, .blocks = c.blocks}, std::move(input),
                                     {.buffer_size = buffer_size, .seed = 17, .epochs = epochs});
        return make_batch(c, std::move(shuffled), static_cast<std::int64_t>(size), drop_remainder);
      },
      [=](const Expected& epoch) { return batch_model(repeat_model(epoch, epochs), size, drop_remainder); }, false);
}

// A cache that never has anything.
class NoCache final : public BatchCache {
 public:
  std::optional<std::int64_t> batches() override { return std::nullopt; }
  KnownBatch at(std::int64_t) const override { return {}; }
  std::shared_ptr<CacheFilling> fill() override { return std::make_shared<Filling>(); }

 private:
  class Filling final : public CacheFilling {
   public:
    Status end(std::int64_t) override { return {}; }
    Status wait(const std::stop_token&) override { return {}; }
  };
};

const bool kAsked = ask_batch_stages({
    behind_case(
        "enumerate_rows",
        [](const StageContext& c, auto input) { return make_enumerate(c, std::move(input), 7, Enumerate::kRows); },
        [](const ExpectedBatches& pass) { return pass; }),
    behind_case(
        "enumerate_batches",
        [](const StageContext& c, auto input) { return make_enumerate(c, std::move(input), -1, Enumerate::kBatches); },
        [](const ExpectedBatches& pass) { return pass; }),
    behind_case(
        "cache",
        [](const StageContext& c, auto input) {
          static NoCache no_cache;
          return make_cache(c, std::move(input), &no_cache);
        },
        [](const ExpectedBatches& pass) { return pass; }),
    behind_case(
        "repeat2_of_skip1_of_cache",
        [](const StageContext& c, auto input) {
          static NoCache no_cache;
          return make_repeat_batches(c, make_skip_batches(c, make_cache(c, std::move(input), &no_cache), 1), 2);
        },
        [](const ExpectedBatches& pass) { return repeat_batches_model(skip_model(pass, 1), 2); }),
    stage_case(
        "batch3_of_unbatch_of_buckets_over_epochs",
        [](const StageContext& c, auto input) {
          const BucketOptions options{.key = "list", .boundaries = {2, 5}, .sizes = {4, 3, 2}};
          auto buckets =
              make_bucket_batches({.op_id = 2, .blocks = c.blocks}, make_repeat(c, std::move(input), 2), options);
          return make_batch(c, make_unbatch(c, std::move(buckets)), 3, false);
        },
        [](const Expected& epoch) { return batch_model(repeat_model(epoch, 2), 3, false); }, false),
    bucket_case("buckets_of_1", {1, 1, 1}, false),
    bucket_case("buckets_of_4_3_2", {4, 3, 2}, false),
    bucket_case("buckets_whole", {4, 3, 2}, true),
    bucket_case("buckets_large", {20, 100, 5}, false),
    bucket_case("buckets_over_epochs", {5, 4, 3}, false, 3),
    batch_case("batch1", 1, false),
    batch_case("batch4", 4, false),
    batch_case("batch20", 20, false),
    batch_case("batch4_drop_remainder", 4, true),
    batch_case("batch20_drop_remainder", 20, true),
    take_case("take0", 0),
    take_case("take1", 1),
    take_case("take4", 4),
    take_case("take_all", -1),
    skip_case("skip0", 0),
    skip_case("skip1", 1),
    skip_case("skip4", 4),
    skip_case("skip_all", -1),
    repeat_case("repeat0", 0),
    repeat_case("repeat1", 1),
    repeat_case("repeat4", 4),
    repeat_case("repeat_endless", -1),
    shuffled_case("batch4_of_shuffle20", 20, 1, 4, false),
    shuffled_case("batch4_of_shuffle20_epochs3", 20, 3, 4, true),
    shuffled_case("batch20_of_shuffle4_endless", 4, -1, 20, true),
    shuffled_case("batch4_of_shuffle100_endless", 100, -1, 4, true),
    stage_case(
        "repeat3_of_skip2_of_batch4_of_shuffle20",
        [](const StageContext& c, auto input) {
          auto shuffled =
              make_shuffle({.op_id = 2, .blocks = c.blocks}, std::move(input), {.buffer_size = 20, .seed = 17});
          auto batches = make_skip_batches(c, make_batch(c, std::move(shuffled), 4, false), 2);
          return make_repeat_batches(c, std::move(batches), 3);
        },
        [](const Expected& epoch) { return repeat_batches_model(skip_model(batch_model(epoch, 4, false), 2), 3); },
        false),
});

}  // namespace
}  // namespace headrace::testing
