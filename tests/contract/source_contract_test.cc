// The contract suite over the source, in three shards that are read in turn: record i is ordinal i / 3 of shard i % 3.
// Once with small records, which are read, and once with large ones, which are only located.
#include "contract/source_subject.h"
#include "record/record_locator.h"

namespace headrace::testing {
namespace {

RecordStageSubject make_sized(const InputPlan& plan, std::size_t size) {
  // Of `size` bytes and more.
  const auto record_of = [size](std::size_t i) {
    return "record " + std::to_string(i) + std::string(size + i * 977 % 3000, ' ');
  };
  auto world = std::make_shared<SourceWorld>(plan_shards(plan, "source_" + std::to_string(size), record_of));
  RecordStageSubject subject;
  subject.blocks = &world->blocks;
  const SourceOptions options{.cycle_length = kShards, .block_length = 1, .late_reading = size >= kLateBytes};
  subject.fetcher = make_fetcher(world->context(), options);
  subject.stage = std::make_unique<ClosingSource>(world.get(), make_source(world->context(), options));
  subject.number = number_of;
  subject.world = std::move(world);
  return subject;
}

RecordStageSubject make_read(const InputPlan& plan) { return make_sized(plan, 0); }
RecordStageSubject make_located(const InputPlan& plan) { return make_sized(plan, kLateBytes); }

Expected expect(const InputPlan& plan) {
  Expected expected{.fails = plan.fail_at >= 0 && plan.fail_at < plan.records};
  for (std::int64_t i = 0; i < (expected.fails ? plan.fail_at : plan.records); ++i) expected.numbers.push_back(i);
  return expected;
}

const bool kAsked = ask_record_stages({
    {.name = "source", .make = make_read, .expect = expect, .can_block = false},
    {.name = "source_located", .make = make_located, .expect = expect, .can_block = false},
});

}  // namespace
}  // namespace headrace::testing
