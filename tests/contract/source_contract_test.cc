// The contract suite over the source, in three shards that are read in turn: record i is ordinal i / 3 of shard i % 3.
// Once with small records, which are read, and once with large ones, which are only located.
#include "contract/record_stage_contract.h"
#include "record/record_locator.h"
#include "record/record_testing.h"

namespace headrace::testing {
namespace {

constexpr std::size_t kShards = 3;

// The stage together with the end of its tasks, so that nothing is read any more when the stage is gone.
class ClosingSource : public RecordStage {
 public:
  ClosingSource(SourceWorld* world, std::unique_ptr<RecordStage> source) : world_(world), source_(std::move(source)) {}
  ~ClosingSource() override {
    source_.reset();
    world_->close();
  }
  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    return source_->pull(max_records, runs, stop);
  }
  void begin_epoch(std::uint64_t epoch) override { source_->begin_epoch(epoch); }
  void save(StateDelta* state) override { source_->save(state); }
  Status restore(StateReader* state, RecordFetcher* fetcher) override { return source_->restore(state, fetcher); }

 private:
  SourceWorld* const world_;
  std::unique_ptr<RecordStage> source_;
};

// The shards of a plan, of records of `size` bytes and more. Written once: failures name the path, and are compared between
// subjects of one plan.
std::vector<std::string> shards_of(const InputPlan& plan, std::size_t size) {
  static const ScratchFolder kFolder;
  std::vector<std::string> paths;
  for (std::size_t shard = 0; shard < kShards; ++shard) {
    const std::string name = std::to_string(size) + "_" + std::to_string(plan.records) + "_" +
                             std::to_string(plan.fail_at) + "_" + std::to_string(shard);
    paths.push_back(kFolder.path(name));
    if (std::filesystem::exists(paths.back())) continue;
    std::string bytes;
    for (std::size_t i = shard; i < static_cast<std::size_t>(plan.records); i += kShards) {
      std::string record = framed("record " + std::to_string(i) + std::string(size + i * 977 % 3000, ' '));
      if (static_cast<std::int64_t>(i) == plan.fail_at) record[8] ^= 1;  // the checksum of its length
      bytes += record;
    }
    kFolder.write(name, bytes);
  }
  return paths;
}

RecordStageSubject make_sized(const InputPlan& plan, std::size_t size) {
  auto world = std::make_shared<SourceWorld>(shards_of(plan, size));
  RecordStageSubject subject;
  subject.blocks = &world->blocks;
  const SourceOptions options{.cycle_length = kShards, .block_length = 1, .late_reading = size >= kLateBytes};
  subject.fetcher = make_fetcher(world->context(), options);
  subject.stage = std::make_unique<ClosingSource>(world.get(), make_source(world->context(), options));
  subject.number = [](const RecordId& id) {
    return static_cast<std::int64_t>(id.ordinal) * static_cast<std::int64_t>(kShards) + id.shard;
  };
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
