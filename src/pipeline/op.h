// Op: one node of the spec tree (docs/design/spec_tree.md). Immutable; shared by all datasets built on it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "headrace/dataset.h"
#include "headrace/device.h"
#include "replica/plan.h"
#include "shard/file_list.h"

namespace headrace {

struct SourceOp {
  Files files;
  ReadOptions options;
  bool whole_files = false;  ///< FileDataset: each file is a record
};
struct InterleaveOp {
  InterleaveOptions options;
};
struct RepeatOp {
  std::int64_t count;  ///< -1 = for ever
};
struct ShuffleOp {
  ShuffleOptions options;  ///< the seed is always set
};
struct ShardOp {
  std::int64_t num_shards;
  std::int64_t index;
  ShardOptions options;
};
struct FilterOp {
  Filter filter;
};
struct TakeOp {
  std::int64_t count;  ///< -1 = all
};
struct SkipOp {
  std::int64_t count;  ///< -1 = all
};
struct BatchOp {
  BatchOptions options;
  std::optional<BatchPadding> padding = std::nullopt;  ///< of padded_batch()
};
struct ParseOp {
  Schema schema;
};
struct MapOp {
  MapOptions options;
};
struct DeviceOp {
  DeviceOptions options;        ///< with a weight for each device
  std::vector<Device> devices;  ///< of this process
};
struct ResidentOp {
  std::int64_t batches;
  std::int64_t count;  ///< -1 = for ever
};
struct CardinalityOp {
  std::int64_t records;
};

struct UnbatchOp {};
struct EnumerateOp {
  std::int64_t start;
};
class CacheStore;
struct CacheOp {
  std::string path;  ///< empty: in memory
  std::shared_ptr<CacheStore> store;
};
struct BucketOp {
  BucketOptions options;
};
/// One dataset that is combined with others.
struct CombinedInput {
  std::shared_ptr<const Op> last;
  std::shared_ptr<Dataset::Shared> shared;
};
struct ConcatenateOp {};
struct SampleOp {
  SampleOptions options;  ///< the seed is always set, and there is a weight for each input
};
struct ChooseOp {
  ChooseOptions options;
};
/// Stands where a source stands in other datasets.
struct CombineOp {
  std::vector<CombinedInput> inputs;
  std::variant<ConcatenateOp, SampleOp, ChooseOp> how;
};

struct Op {
  int id = 0;                       ///< 0 = the source; each step adds one
  std::shared_ptr<const Op> input;  ///< null for the source and for a combination
  std::variant<SourceOp, InterleaveOp, RepeatOp, ShuffleOp, ShardOp, TakeOp, SkipOp, BatchOp, ParseOp, DeviceOp,
               CardinalityOp, FilterOp, MapOp, BucketOp, ResidentOp, CombineOp, UnbatchOp, EnumerateOp, CacheOp>
      arguments;
};

/// "TFRecordDataset" or "FileDataset".
std::string source_name(const SourceOp& source);
/// What find_shards() is asked; of files behind URLs, source_files.h knows more.
FileSpec file_spec(const SourceOp& source);

/// The op's public name, such as "shuffle".
std::string op_name(const Op& op);
/// Its arguments in canonical text. Only what decides the order and content of the stream for ops that do; part of saved
/// positions, so a change needs a new position format.
std::string op_arguments(const Op& op);

/// From the source, or the combination, to `last`.
std::vector<const Op*> ops_in_order(const std::shared_ptr<const Op>& last);

/// The first op of type T among ops_in_order(), or null.
template <class T>
const T* find_op(const std::shared_ptr<const Op>& last) {
  for (const Op* op : ops_in_order(last)) {
    if (const T* found = std::get_if<T>(&op->arguments)) return found;
  }
  return nullptr;
}

/// The step that makes the batches, or null where the elements are records: of several, with unbatch() between them, the last.
const Op* batching_op(const std::shared_ptr<const Op>& last);
inline bool is_batched(const std::shared_ptr<const Op>& last) { return batching_op(last) != nullptr; }

/// The same steps, whose batches are all full: drop_remainder at batching_op(), which there is.
std::shared_ptr<const Op> dropping_remainder(const std::shared_ptr<const Op>& last);

/// How batches are shared out; to one replica without prefetch_to_device().
ReplicaPlan replica_plan(const std::shared_ptr<const Op>& last);

/// What parse() makes of the records, with the columns that other steps add; nothing before parse().
std::optional<Schema> parsed_schema(const std::shared_ptr<const Op>& last);

/// Options of the sources, which are the same for all of a tree but for what is said of files alone.
const ReadOptions& read_options(const std::shared_ptr<const Op>& last);

/// kInvalidArgument where the order of the records is not the same each time: `what` shares them out among processes, each of
/// which orders them by itself.
Status check_one_order(const std::shared_ptr<const Op>& last, const std::string& what);

/// Whether each file is a record: of a FileDataset, or of several that are combined.
bool reads_whole_files(const std::shared_ptr<const Op>& last);

/// Text of all ops that decide the order: the identity of the stream in a saved position.
std::string order_spec(const std::shared_ptr<const Op>& last);

}  // namespace headrace
