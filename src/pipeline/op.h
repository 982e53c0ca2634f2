// Op: one node of the spec tree (docs/design/spec_tree.md). Immutable; shared by all datasets built on it.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "headrace/dataset.h"
#include "headrace/device.h"
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
};
struct ParseOp {
  Schema schema;
};
struct MapOp {
  MapOptions options;
};
struct DeviceOp {
  DeviceOptions options;
  std::vector<Device> devices;
};
struct CardinalityOp {
  std::int64_t records;
};

struct Op {
  int id = 0;                       ///< 0 = the source; each step adds one
  std::shared_ptr<const Op> input;  ///< null for the source
  std::variant<SourceOp, InterleaveOp, RepeatOp, ShuffleOp, ShardOp, TakeOp, SkipOp, BatchOp, ParseOp, DeviceOp,
               CardinalityOp, FilterOp, MapOp>
      arguments;
};

/// "TFRecordDataset" or "FileDataset".
std::string source_name(const SourceOp& source);
/// What find_shards() is asked.
FileSpec file_spec(const SourceOp& source);

/// The op's public name, such as "shuffle".
std::string op_name(const Op& op);
/// Its arguments in canonical text. Only what decides the order and content of the stream for ops that do; part of saved
/// positions, so a change needs a new position format.
std::string op_arguments(const Op& op);

/// From the source to `last`.
std::vector<const Op*> ops_in_order(const std::shared_ptr<const Op>& last);

/// The first op of type T behind the source, or null.
template <class T>
const T* find_op(const std::shared_ptr<const Op>& last) {
  for (const Op* op : ops_in_order(last)) {
    if (const T* found = std::get_if<T>(&op->arguments)) return found;
  }
  return nullptr;
}

/// Text of all ops that decide the order: the identity of the stream in a saved position.
std::string order_spec(const std::shared_ptr<const Op>& last);

}  // namespace headrace
