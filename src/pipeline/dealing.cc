#include "pipeline/dealing.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace headrace {
namespace {

/// No job has as many. What is passed over for a state that a stranger wrote is less than this.
constexpr std::int64_t kMostWorkers = std::int64_t{1} << 20;

/// The number that stands in `text` behind the last `words`.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view words) {
  const std::size_t at = text.rfind(words);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t number = 0;
  const char* const begin = text.data() + at + words.size();
  if (std::from_chars(begin, text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

/// The same steps with other numbers of the dealing, and another size of the batches behind it.
std::shared_ptr<const Op> dealt_as(const Op& op, const Dealing& dealing, std::optional<std::int64_t> batch_size) {
  Op changed = op;
  if (auto* shard = std::get_if<ShardOp>(&changed.arguments)) {
    shard->num_shards = dealing.num_shards;
    shard->index = dealing.index;
    return std::make_shared<const Op>(std::move(changed));
  }
  auto* batch = std::get_if<BatchOp>(&changed.arguments);
  if (batch != nullptr && batch_size) batch->options.size = *batch_size;
  changed.input = dealt_as(*op.input, dealing, batch_size);
  return std::make_shared<const Op>(std::move(changed));
}

/// What makes the order, or the rounds, depend on the number of workers; empty when nothing does.
std::string depends_on_workers(const std::shared_ptr<const Op>& last, const Op& dealing) {
  const ShardOptions& options = std::get<ShardOp>(dealing.arguments).options;
  if (options.by == ShardBy::kFile) return "shard(by=\"file\") gives each worker files of its own";
  if (options.by == ShardBy::kRange) return "shard(by=\"range\") gives each worker a range of its own";
  if (read_options(last).on_mismatch == OnMismatch::kSkip)
    return "on_mismatch=\"skip\" leaves out records of one worker";
  for (const Op* op = last.get(); op != &dealing; op = op->input.get()) {
    if (std::holds_alternative<BatchOp>(op->arguments) || std::holds_alternative<ParseOp>(op->arguments) ||
        std::holds_alternative<MapOp>(op->arguments) || std::holds_alternative<DeviceOp>(op->arguments)) {
      continue;
    }
    if (!std::holds_alternative<RepeatOp>(op->arguments)) return op_name(*op) + "() stands behind shard()";
    if (!options.drop_remainder) return "repeat() stands behind a shard() without drop_remainder";
  }
  return {};
}

std::string worker_text(const Dealing& dealing) {
  return "worker " + std::to_string(dealing.index) + " of " + std::to_string(dealing.num_shards);
}

}  // namespace

const Op* dealing_op(const std::shared_ptr<const Op>& last) {
  const Op* op = last.get();
  while (op != nullptr && !std::holds_alternative<ShardOp>(op->arguments)) op = op->input.get();
  return op;
}

Result<std::optional<Dealing>> dealing_before(const std::string& saved, const std::shared_ptr<const Op>& last) {
  const std::optional<Dealing> none;
  const Op* op = dealing_op(last);
  const auto num_shards = number_behind(saved, "shard(num_shards=");
  const auto index = number_behind(saved, ",index=");
  if (op == nullptr || !num_shards || !index || saved == order_spec(last)) return none;
  const Dealing before{*num_shards, *index};
  if (before.index < 0 || before.index >= before.num_shards || before.num_shards > kMostWorkers) return none;
  if (order_spec(dealt_as(*last, before, number_behind(saved, "batch(size="))) != saved) return none;
  const auto& shard = std::get<ShardOp>(op->arguments);
  const Dealing now{shard.num_shards, shard.index};
  if (before.num_shards == now.num_shards && before.index == now.index) return none;
  const std::string reason = depends_on_workers(last, *op);
  if (reason.empty()) return std::optional(before);
  return invalid_argument(
      "the saved position is of " + worker_text(before) + ", this is " + worker_text(now) + ", and " + reason +
      ". Another worker can go on only where the order does not depend on the workers: unshuffled, "
      "shuffle(\"global\"), or another shuffle, each with shard() by record behind it, then repeat (with "
      "drop_remainder in shard) and batch");
}

}  // namespace headrace
