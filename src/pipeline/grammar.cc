#include "pipeline/grammar.h"

namespace headrace {
namespace {

constexpr const char* kWorkingOrder =
    "TFRecordDataset -> interleave -> {shard, take, skip, filter, repeat, shuffle} -> batch -> parse -> {map, take, "
    "skip, repeat} -> prefetch_to_device";

Status refuse(const Op& next, const std::string& reason) {
  return invalid_argument(op_name(next) + "() " + reason + "; the order that works: " + kWorkingOrder);
}

template <class T>
bool has(const std::shared_ptr<const Op>& last) {
  return find_op<T>(last) != nullptr;
}

}  // namespace

Status check_order(const std::shared_ptr<const Op>& last, const Op& next) {
  const bool batched = has<BatchOp>(last);
  const auto is = [&next]<class T>(std::type_identity<T>) { return std::holds_alternative<T>(next.arguments); };
  if (has<DeviceOp>(last)) return refuse(next, "comes after prefetch_to_device(), which must be last");
  if (is(std::type_identity<InterleaveOp>())) {
    for (const Op* op : ops_in_order(last)) {
      if (!std::holds_alternative<SourceOp>(op->arguments) && !std::holds_alternative<CardinalityOp>(op->arguments)) {
        return refuse(next, "must stand right behind the source, not behind " + op_name(*op) + "()");
      }
    }
  }
  if (is(std::type_identity<ShardOp>()) || is(std::type_identity<ShuffleOp>()) || is(std::type_identity<FilterOp>())) {
    if (batched) return refuse(next, "works on records and must stand before batch()");
  }
  if (is(std::type_identity<BatchOp>()) && batched) return refuse(next, "is there already");
  if (is(std::type_identity<ParseOp>())) {
    if (!batched) return refuse(next, "needs batch() before it: records are parsed a batch at a time");
    if (has<ParseOp>(last)) return refuse(next, "is there already");
  }
  if ((is(std::type_identity<DeviceOp>()) || is(std::type_identity<MapOp>())) && !has<ParseOp>(last)) {
    return refuse(next, "needs batch() and parse() before it");
  }
  return {};
}

}  // namespace headrace
