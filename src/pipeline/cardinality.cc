#include "pipeline/cardinality.h"

#include <algorithm>

namespace headrace {

std::int64_t stream_elements(const std::shared_ptr<const Op>& last, std::int64_t source_records, bool ignore_repeat) {
  std::int64_t n = source_records;  // kEndless passes through every step that can keep it
  for (const Op* op : ops_in_order(last)) {
    if (const auto* take = std::get_if<TakeOp>(&op->arguments)) {
      if (take->count >= 0) n = n == kEndless ? take->count : std::min(n, take->count);
    } else if (const auto* skip = std::get_if<SkipOp>(&op->arguments)) {
      if (skip->count < 0) n = 0;
      if (n != kEndless) n = std::max<std::int64_t>(0, n - std::max<std::int64_t>(0, skip->count));
    } else if (const auto* shard = std::get_if<ShardOp>(&op->arguments)) {
      if (n != kEndless) n = n / shard->num_shards + (n % shard->num_shards > shard->index ? 1 : 0);
    } else if (const auto* repeat = std::get_if<RepeatOp>(&op->arguments)) {
      if (ignore_repeat) continue;
      if (repeat->count < 0) {
        n = kEndless;
      } else if (n != kEndless || repeat->count == 0) {
        n = repeat->count == 0 ? 0 : n * repeat->count;
      }
    } else if (const auto* batch = std::get_if<BatchOp>(&op->arguments)) {
      const std::int64_t size = batch->options.size;
      if (n != kEndless) n = batch->options.drop_remainder ? n / size : n / size + (n % size != 0 ? 1 : 0);
    }
  }
  return n;
}

}  // namespace headrace
