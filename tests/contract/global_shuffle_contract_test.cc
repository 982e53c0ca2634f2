// The contract suite over the global shuffle of three shards: records that are read or located one by one, and windows of
// pieces. What must come is worked out from the permutations alone.
#include "base/permutation.h"
#include "batch/global_shuffle.h"
#include "contract/source_subject.h"
#include "record/record_loader.h"
#include "record/record_locator.h"

namespace headrace::testing {
namespace {

constexpr std::uint64_t kSeed = 5;

struct Kind {
  std::size_t record_bytes;
  std::uint64_t window_bytes;
  std::uint64_t piece_bytes;
  std::uint64_t first = 0;  // of the plan's records, in the order of the shards
  std::uint64_t step = 1;
};

// Record i is ordinal i / 3 of shard i % 3, so the map numbers it anew.
std::string record_of(std::size_t number, std::size_t size) {
  return "record " + std::to_string(number) + std::string(size + number * 977 % 50, ' ');
}

std::vector<RecordIndex> indexes_of(const InputPlan& plan, const Kind& kind) {
  std::vector<RecordIndex> indexes(kShards);
  for (std::size_t i = 0; i < static_cast<std::size_t>(plan.records); ++i) {
    indexes[i % kShards].lengths.push_back(static_cast<std::uint32_t>(record_of(i, kind.record_bytes).size()));
  }
  return indexes;
}

RecordMap map_of(const InputPlan& plan, const Kind& kind) {
  return RecordMap({{.shard = 0}, {.shard = 1}, {.shard = 2}}, indexes_of(plan, kind), kind.piece_bytes, kLateBytes);
}

GlobalShuffleOptions options_of(const InputPlan& plan, const Kind& kind) {
  const auto records = static_cast<std::uint64_t>(plan.records);
  return {.first = kind.first,
          .step = kind.step,
          .count = records <= kind.first ? 0 : (records - kind.first - 1) / kind.step + 1,
          .seed = kSeed,
          .reshuffle_each_iteration = false,
          .window_bytes = kind.window_bytes};
}

// What the stage needs to live.
struct Setting {
  explicit Setting(const std::vector<std::string>& paths) : world(paths) {}
  SourceWorld world;
  RecordLoader loader{world.shards, Verify::kFull, true};
};

RecordStageSubject make(const InputPlan& plan, const Kind& kind) {
  auto setting =
      std::make_shared<Setting>(plan_shards(plan, "shuffle_" + std::to_string(kind.record_bytes),
                                            [&kind](std::size_t i) { return record_of(i, kind.record_bytes); }));
  SourceContext context = setting->world.context();
  context.loader = &setting->loader;
  RecordStageSubject subject;
  subject.blocks = &setting->world.blocks;
  subject.stage = std::make_unique<ClosingSource>(
      &setting->world,
      make_global_shuffle(context, {}, std::make_shared<RecordMap>(map_of(plan, kind)), options_of(plan, kind)));
  subject.number = number_of;
  subject.world = std::move(setting);
  return subject;
}

// The numbers of the plan's records, in the order of the shards.
std::vector<std::int64_t> in_order_of_shards(const InputPlan& plan) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t shard = 0; shard < static_cast<std::int64_t>(kShards); ++shard) {
    for (std::int64_t i = shard; i < plan.records; i += kShards) numbers.push_back(i);
  }
  return numbers;
}

Expected expect(const InputPlan& plan, const Kind& kind) {
  const RecordMap map = map_of(plan, kind);
  const GlobalShuffleOptions options = options_of(plan, kind);
  const std::vector<std::int64_t> numbers = in_order_of_shards(plan);
  const bool is_located = kind.record_bytes >= kLateBytes;
  Expected expected;
  if (options.count == 0) return expected;
  const std::uint64_t key = random_key(kSeed, 0);
  const std::uint64_t first_piece = map.piece_of(options.first);
  const std::uint64_t last = options.first + (options.count - 1) * options.step;
  const std::uint64_t pieces = kind.window_bytes == 0 ? options.count : map.piece_of(last) + 1 - first_piece;
  const KeyedPermutation order(pieces, key);
  for (std::uint64_t begin = 0; begin < pieces;) {
    std::vector<std::uint64_t> window;  // numbers of the map
    std::uint64_t bytes = 0;
    std::uint64_t end = begin;
    while (end < pieces && (kind.window_bytes == 0 ? end == begin : bytes < kind.window_bytes)) {
      const std::uint64_t place = order(end++);
      if (kind.window_bytes == 0) {
        window.push_back(options.first + place * options.step);
        continue;
      }
      const Piece piece = map.piece(first_piece + place);
      bool is_used = false;
      for (std::uint64_t n = piece.number; n < piece.number + piece.records; ++n) {
        if (n < options.first || n > last || (n - options.first) % options.step != 0) continue;
        window.push_back(n);
        is_used = true;
      }
      if (is_used) bytes += piece.bytes;
    }
    std::optional<KeyedPermutation> inner;
    if (kind.window_bytes > 0 && !window.empty()) inner.emplace(window.size(), random_key(key, begin));
    for (std::uint64_t i = 0; i < window.size(); ++i) {
      const std::uint64_t n = window[inner ? (*inner)(i) : i];
      // A header that does not hold hides what stands behind it in its piece; of located records nothing is looked at.
      const Piece piece = map.piece(map.piece_of(n));
      for (std::uint64_t before = piece.number; before <= n && plan.fail_at >= 0 && !is_located; ++before) {
        if (numbers[before] == plan.fail_at) expected.fails = true;
      }
      if (expected.fails) return expected;
      expected.numbers.push_back(numbers[n]);
    }
    begin = end;
  }
  return expected;
}

RecordStageCase stage_case(const std::string& name, const Kind& kind) {
  return {.name = name,
          .make = [kind](const InputPlan& plan) { return make(plan, kind); },
          .expect = [kind](const InputPlan& plan) { return expect(plan, kind); },
          .can_block = false};
}

const bool kAsked = ask_record_stages({
    stage_case("global", {20, 0, 0}),
    stage_case("global_located", {kLateBytes, 0, 0}),
    stage_case("global_share", {20, 0, 0, 3, 4}),
    stage_case("global_window", {20, 500, 150}),
    stage_case("global_window_of_all", {20, 1 << 20, 150}),
    stage_case("global_window_located", {kLateBytes, 5 * kLateBytes, 3 * kLateBytes}),
    stage_case("global_window_share", {20, 500, 150, 2, 3}),
});

}  // namespace
}  // namespace headrace::testing
