// For the contract suite over sources: the shards of an input plan, and a stage whose world closes with it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contract/record_stage_contract.h"
#include "record/record_testing.h"

namespace headrace::testing {

constexpr std::size_t kShards = 3;

/// Record i of a plan is ordinal i / kShards of shard i % kShards.
inline std::int64_t number_of(const RecordId& id) {
  return static_cast<std::int64_t>(id.ordinal) * static_cast<std::int64_t>(kShards) + id.shard;
}

/// The shards of a plan, whose record i is `record_of(i)`; the one that fails has a header whose checksum is wrong. Written once
/// for each `label`: failures name the path, and are compared between subjects of one plan.
inline std::vector<std::string> plan_shards(const InputPlan& plan, const std::string& label,
                                            const std::function<std::string(std::size_t)>& record_of) {
  static const ScratchFolder kFolder;
  std::vector<std::string> paths;
  for (std::size_t shard = 0; shard < kShards; ++shard) {
    const std::string name =
        label + "_" + std::to_string(plan.records) + "_" + std::to_string(plan.fail_at) + "_" + std::to_string(shard);
    paths.push_back(kFolder.path(name));
    if (std::filesystem::exists(paths.back())) continue;
    std::string bytes;
    for (std::size_t i = shard; i < static_cast<std::size_t>(plan.records); i += kShards) {
      std::string record = framed(record_of(i));
      if (static_cast<std::int64_t>(i) == plan.fail_at) record[8] ^= 1;  // the checksum of its length
      bytes += record;
    }
    kFolder.write(name, bytes);
  }
  return paths;
}

/// The contract suite destroys the stage alone; only when no task is left either is every block given back.
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

}  // namespace headrace::testing
