// The contract suite over the record stages of src/batch, alone and in chains.
#include "batch/stages.h"
#include "contract/record_stage_contract.h"
#include "support/fake_source.h"

namespace headrace::testing {
namespace {

using Wrap = std::function<std::unique_ptr<RecordStage>(const StageContext&, std::unique_ptr<RecordStage>)>;
using Model = std::function<Expected(Expected)>;

FakeSourceOptions source_options(const InputPlan& plan) {
  return {.records = plan.records,
          .fail_at = plan.fail_at < plan.records ? plan.fail_at : -1,
          .block_at = plan.block_at,
          .shards = 3,
          .chunk_seed = 11};
}

Expected input_epoch(const InputPlan& plan) {
  Expected epoch{.fails = plan.fail_at >= 0 && plan.fail_at < plan.records};
  for (std::int64_t i = 0; i < (epoch.fails ? plan.fail_at : plan.records); ++i) epoch.numbers.push_back(i);
  return epoch;
}

// Of two inputs that have the same records.
using Join =
    std::function<std::unique_ptr<RecordStage>(const StageContext&, std::vector<std::unique_ptr<RecordStage>>)>;

RecordStageCase joined_case(const std::string& name, const Join& join, const Model& model) {
  return {.name = name,
          .make =
              [join](const InputPlan& plan) {
                auto blocks = std::make_shared<BlockPool>();
                const FakeSourceOptions options = source_options(plan);
                RecordStageSubject subject;
                subject.blocks = blocks.get();
                subject.fetcher = make_fake_fetcher(blocks.get(), options);
                std::vector<std::unique_ptr<RecordStage>> inputs;
                for (int i = 0; i < 2; ++i) inputs.push_back(make_fake_source(blocks.get(), options));
                subject.stage = join({.op_id = 5, .blocks = blocks.get()}, std::move(inputs));
                subject.number = [](const RecordId& id) { return fake_number(id, 3); };
                subject.world = std::move(blocks);
                return subject;
              },
          .expect = [model](const InputPlan& plan) { return model(input_epoch(plan)); }};
}

RecordStageCase stage_case(const std::string& name, const Wrap& wrap, const Model& model, bool in_order = true) {
  return {.name = name,
          .make =
              [wrap](const InputPlan& plan) {
                auto blocks = std::make_shared<BlockPool>();
                const FakeSourceOptions options = source_options(plan);
                RecordStageSubject subject;
                subject.blocks = blocks.get();
                subject.fetcher = make_fake_fetcher(blocks.get(), options);
                subject.stage = wrap({.op_id = 5, .blocks = blocks.get()}, make_fake_source(blocks.get(), options));
                subject.number = [](const RecordId& id) { return fake_number(id, 3); };
                subject.world = std::move(blocks);
                return subject;
              },
          .expect = [model](const InputPlan& plan) { return model(input_epoch(plan)); },
          .in_order = in_order};
}

Expected take_model(Expected epoch, std::size_t count) {
  if (epoch.numbers.size() >= count) {
    epoch.numbers.resize(count);
    epoch.fails = epoch.endless = false;
  }
  return epoch;
}

Expected skip_model(Expected epoch, std::size_t count) {
  const std::size_t gone = std::min(count, epoch.numbers.size());
  epoch.numbers.erase(epoch.numbers.begin(), epoch.numbers.begin() + static_cast<std::ptrdiff_t>(gone));
  return epoch;
}

Expected shard_model(const Expected& epoch, std::size_t num_shards, std::size_t index) {
  Expected kept{.fails = epoch.fails};
  for (std::size_t i = index; i < epoch.numbers.size(); i += num_shards) kept.numbers.push_back(epoch.numbers[i]);
  return kept;
}

/// count -1: three epochs of an endless stream.
Expected repeat_model(const Expected& epoch, int count) {
  if (count == 0) return {};
  if (epoch.fails) return epoch;
  if (epoch.numbers.empty()) return {.fails = count < 0};
  Expected all{.endless = count < 0};
  for (int i = 0; i < (count < 0 ? 3 : count); ++i) {
    all.numbers.insert(all.numbers.end(), epoch.numbers.begin(), epoch.numbers.end());
  }
  return all;
}

RecordStageCase take_case(const std::string& name, std::int64_t count) {
  return stage_case(
      name, [count](const StageContext& c, auto input) { return make_take(c, std::move(input), count); },
      [count](Expected epoch) { return count < 0 ? epoch : take_model(epoch, static_cast<std::size_t>(count)); });
}

RecordStageCase skip_case(const std::string& name, std::int64_t count) {
  return stage_case(
      name, [count](const StageContext& c, auto input) { return make_skip(c, std::move(input), count); },
      [count](Expected epoch) { return count < 0 ? Expected{} : skip_model(epoch, static_cast<std::size_t>(count)); });
}

RecordStageCase shard_case(const std::string& name, std::int64_t num_shards, std::int64_t index) {
  return stage_case(
      name, [=](const StageContext& c, auto input) { return make_shard(c, std::move(input), num_shards, index); },
      [=](const Expected& epoch) {
        return shard_model(epoch, static_cast<std::size_t>(num_shards), static_cast<std::size_t>(index));
      });
}

// Keeps the records whose number is not below `from` or is one of `others`.
RecordStageCase filter_case(const std::string& name, std::int64_t from, const std::vector<std::int64_t>& others) {
  const FilterTerm bound{
      .key = "n", .comparison = Comparison::kGreaterEqual, .operands = std::vector<std::int64_t>{from}};
  const FilterTerm list{.key = "n", .comparison = Comparison::kIn, .operands = others};
  const Filter filter{{bound, list}, {FilterStep::kTerm, FilterStep::kTerm, FilterStep::kOr}};
  return stage_case(
      name, [filter](const StageContext& c, auto input) { return make_filter(c, std::move(input), filter); },
      [=](Expected epoch) {
        std::erase_if(epoch.numbers, [&](std::int64_t number) {
          return number < from && std::find(others.begin(), others.end(), number) == others.end();
        });
        return epoch;
      });
}

RecordStageCase repeat_case(const std::string& name, int count) {
  return stage_case(
      name, [count](const StageContext& c, auto input) { return make_repeat(c, std::move(input), count); },
      [count](const Expected& epoch) { return repeat_model(epoch, count); });
}

RecordStageCase shuffle_case(const std::string& name, std::int64_t buffer_size, int epochs, bool reshuffle = true) {
  return stage_case(
      name,
      [=](const StageContext& c, auto input) {
        return make_shuffle(
            c, std::move(input),
            {.buffer_size = buffer_size, .seed = 17, .reshuffle_each_iteration = reshuffle, .epochs = epochs});
      },
      [=](const Expected& epoch) { return repeat_model(epoch, epochs); }, buffer_size == 1);
}

Expected concatenate_model(const Expected& epoch) {
  Expected both = epoch;
  if (!epoch.fails) both.numbers.insert(both.numbers.end(), epoch.numbers.begin(), epoch.numbers.end());
  return both;
}

// Record by record.
Expected choose_model(const Expected& epoch, const ChoiceOptions& options, bool stop_on_empty) {
  Choices choices(options);
  Expected chosen;
  std::size_t next[2] = {0, 0};
  const auto left = [&](std::uint32_t input) {
    return choices.has(input) && (epoch.fails || next[input] < epoch.numbers.size());
  };
  for (std::uint64_t p = 0; left(0) || left(1); ++p) {
    const std::uint32_t input = choices.at(p);
    if (next[input] < epoch.numbers.size()) {
      chosen.numbers.push_back(epoch.numbers[next[input]++]);
    } else if (epoch.fails || stop_on_empty) {
      chosen.fails = epoch.fails;
      break;
    }
  }
  return chosen;
}

RecordStageCase choose_case(const std::string& name, const ChoiceOptions& options, bool stop_on_empty) {
  return joined_case(
      name,
      [=](const StageContext& c, auto inputs) { return make_choose(c, std::move(inputs), options, stop_on_empty); },
      [=](const Expected& epoch) { return choose_model(epoch, options, stop_on_empty); });
}

/// The records of batches of `size`, `epochs` times.
RecordStageCase unbatch_case(const std::string& name, std::int64_t size, bool drop_remainder, int epochs = 1) {
  return stage_case(
      name,
      [=](const StageContext& c, auto input) {
        if (epochs != 1) input = make_repeat(c, std::move(input), epochs);
        return make_unbatch(c, make_batch(c, std::move(input), size, drop_remainder));
      },
      [=](const Expected& epoch) {
        Expected all = repeat_model(epoch, epochs);
        const auto rest = all.numbers.size() % static_cast<std::size_t>(size);
        if (drop_remainder && !all.endless) all.numbers.resize(all.numbers.size() - rest);
        return all;
      });
}

const bool kAsked = ask_record_stages({
    unbatch_case("unbatch1", 1, false),
    unbatch_case("unbatch4", 4, false),
    unbatch_case("unbatch20", 20, false),
    unbatch_case("unbatch4_drop_remainder", 4, true),
    unbatch_case("unbatch4_of_epochs", 4, false, 3),
    unbatch_case("unbatch20_of_epochs_drop_remainder", 20, true, 3),
    unbatch_case("unbatch20_endless", 20, false, -1),
    stage_case(
        "shuffle4_of_unbatch_of_repeat2_of_batch4_of_shuffle20",
        [](const StageContext& c, auto input) {
          auto shuffled =
              make_shuffle({.op_id = 2, .blocks = c.blocks}, std::move(input), {.buffer_size = 20, .seed = 5});
          auto batches = make_repeat_batches(c, make_batch(c, std::move(shuffled), 4, false), 2);
          return make_shuffle(c, make_unbatch(c, std::move(batches)), {.buffer_size = 4, .seed = 6});
        },
        [](const Expected& epoch) { return repeat_model(epoch, 2); }, false),
    take_case("take0", 0),
    take_case("take1", 1),
    take_case("take4", 4),
    take_case("take20", 20),
    take_case("take_all", -1),
    skip_case("skip0", 0),
    skip_case("skip1", 1),
    skip_case("skip4", 4),
    skip_case("skip20", 20),
    skip_case("skip_all", -1),
    shard_case("shard_0_of_1", 1, 0),
    shard_case("shard_0_of_4", 4, 0),
    shard_case("shard_3_of_4", 4, 3),
    shard_case("shard_19_of_20", 20, 19),
    shard_case("shard_7_of_5000", 5000, 7),
    filter_case("filter_all", 0, {}),
    filter_case("filter_none", 1000, {}),
    filter_case("filter_some", 30, {0, 1, 5, 20, 29}),
    repeat_case("repeat0", 0),
    repeat_case("repeat1", 1),
    repeat_case("repeat4", 4),
    repeat_case("repeat_endless", -1),
    shuffle_case("shuffle1", 1, 1),
    shuffle_case("shuffle4", 4, 1),
    shuffle_case("shuffle20", 20, 1),
    shuffle_case("shuffle100", 100, 1),
    shuffle_case("shuffle1_epochs4", 1, 4),
    shuffle_case("shuffle4_epochs4", 4, 4),
    shuffle_case("shuffle20_epochs4", 20, 4),
    shuffle_case("shuffle100_epochs4", 100, 4),
    shuffle_case("shuffle4_endless", 4, -1),
    shuffle_case("shuffle20_endless", 20, -1),
    shuffle_case("shuffle100_endless", 100, -1),
    shuffle_case("shuffle20_endless_same_order", 20, -1, false),
    shuffle_case("shuffle20_no_epochs", 20, 0),
    joined_case(
        "concatenate", [](const StageContext&, auto inputs) { return make_concatenate(std::move(inputs)); },
        concatenate_model),
    choose_case("choose_in_turn", {.pattern = {0, 1}}, true),
    choose_case("choose_pattern", {.pattern = {0, 1, 1, 0, 1}}, true),
    choose_case("choose_pattern_to_the_end", {.pattern = {1, 1, 1, 0}}, false),
    choose_case("choose_one", {.pattern = {1}}, false),
    choose_case("sample_evenly", {.weights = {1, 1}, .seed = 3}, true),
    choose_case("sample_to_the_end", {.weights = {0.9, 0.1}, .seed = 3}, false),
    choose_case("sample_one", {.weights = {0, 2}, .seed = 3}, false),
    stage_case(
        "repeat2_of_take4_of_shuffle20",
        [](const StageContext& c, auto input) {
          auto shuffled = make_shuffle(c, std::move(input), {.buffer_size = 20, .seed = 5});
          return make_repeat(c, make_take(c, std::move(shuffled), 1000), 2);
        },
        [](const Expected& epoch) { return repeat_model(epoch, 2); }, false),
    stage_case(
        "shuffle20_endless_of_skip3_of_shard_1_of_2",
        [](const StageContext& c, auto input) {
          auto sharded = make_skip(c, make_shard(c, std::move(input), 2, 1), 3);
          return make_shuffle(c, std::move(sharded), {.buffer_size = 20, .seed = 5, .epochs = -1});
        },
        [](const Expected& epoch) { return repeat_model(skip_model(shard_model(epoch, 2, 1), 3), -1); }, false),
    stage_case(
        "shuffle4_of_repeat2",
        [](const StageContext& c, auto input) {
          return make_shuffle(c, make_repeat(c, std::move(input), 2), {.buffer_size = 4, .seed = 5});
        },
        [](const Expected& epoch) { return repeat_model(epoch, 2); }, false),
});

}  // namespace
}  // namespace headrace::testing
