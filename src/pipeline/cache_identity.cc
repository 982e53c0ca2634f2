#include "pipeline/cache_identity.h"

#include <bit>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/hash128.h"
#include "pipeline/identity.h"

namespace headrace {
namespace {

// Every member of every struct goes in: one that is added does not compile until it is here.
class SchemaHash {
 public:
  explicit SchemaHash(const Schema& schema) {
    const auto& [features, origin, index, mask, sequence] = schema;
    add_all(features, origin, index, mask, sequence);
  }
  std::string hex() const { return hash_.hex(); }

 private:
  template <class... Ts>
  void add_all(const Ts&... values) {
    (add(values), ...);
  }
  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void add(T value) {
    hash_.add(static_cast<std::uint64_t>(value));
  }
  void add(double value) { hash_.add(std::bit_cast<std::uint64_t>(value)); }
  void add(const std::string& text) { hash_.add(text); }
  template <class Sequence>
  requires(!std::is_same_v<Sequence, std::string> &&
           requires(const Sequence& s) { s.begin(); }) void add(const Sequence& values) {
    hash_.add(values.size());
    for (const auto& value : values) add(value);
  }
  template <class... Ts>
  void add(const std::variant<Ts...>& value) {
    hash_.add(value.index());
    std::visit([this](const auto& one) { this->add(one); }, value);
  }

  void add(std::monostate) {}
  void add(const Feature& feature) {
    const auto& [name, key, keys, kind, dtype, shape, unknown_rank, unknown_dims, numeric, bytes, has_default,
                 partitions, indices, sorted, missing, reshape, little, fixed_length, splits, view, sparse, image, list,
                 transforms] = feature;
    add_all(name, key, keys, kind, dtype, shape, unknown_rank, unknown_dims, numeric, bytes, has_default, partitions,
            indices, sorted, missing, reshape, little, fixed_length, splits, view, sparse, image, list, transforms);
  }
  void add(const Partition& partition) {
    const auto& [kind, key, row_length] = partition;
    add_all(kind, key, row_length);
  }
  void add(const SparseIndex& index) {
    const auto& [key, size] = index;
    add_all(key, size);
  }

  void add(const ImageOptions& image) {
    const auto& [layout, crop, resize, random_flip, mean, std, dct, reduce, max_pixels, seed] = image;
    add_all(layout, crop, resize, random_flip, mean, std, dct, reduce, max_pixels, seed);
  }
  void add(const CentralCrop& crop) {
    const auto& [fraction, square] = crop;
    add_all(fraction, square);
  }
  void add(const FixedCrop& crop) {
    const auto& [top, left, height, width] = crop;
    add_all(top, left, height, width);
  }
  void add(const RandomCrop& crop) {
    const auto& [height, width] = crop;
    add_all(height, width);
  }
  void add(const RandomResizedCrop& crop) {
    const auto& [min_area, max_area, min_ratio, max_ratio] = crop;
    add_all(min_area, max_area, min_ratio, max_ratio);
  }

  void add(const Cast& cast) {
    const auto& [dtype] = cast;
    add(dtype);
  }
  void add(const Scale& scale) {
    const auto& [mul, added] = scale;
    add_all(mul, added);
  }
  void add(const Normalize& normalize) {
    const auto& [mean, std] = normalize;
    add_all(mean, std);
  }
  void add(const Clip& clip) {
    const auto& [lo, hi] = clip;
    add_all(lo, hi);
  }
  void add(const Log1p&) {}
  void add(const FillNan& fill) {
    const auto& [value] = fill;
    add(value);
  }
  void add(const Bucketize& bucketize) {
    const auto& [boundaries] = bucketize;
    add(boundaries);
  }
  void add(const OneHot& one_hot) {
    const auto& [depth, dtype] = one_hot;
    add_all(depth, dtype);
  }
  void add(const HashBucket& bucket) {
    const auto& [buckets] = bucket;
    add(buckets);
  }
  void add(const Mod& mod) {
    const auto& [divisor] = mod;
    add(divisor);
  }
  void add(const Lookup& lookup) {
    const auto& [strings, integers, oov_fails, oov, num_oov_buckets] = lookup;
    add_all(strings, integers, oov_fails, oov, num_oov_buckets);
  }
  void add(const Truncate& truncate) {
    const auto& [count] = truncate;
    add(count);
  }
  void add(const Pad& pad) {
    const auto& [count, value, refuse_longer] = pad;
    add_all(count, value, refuse_longer);
  }

  Hash128 hash_;
};

}  // namespace

std::string cache_identity(const std::shared_ptr<const Op>& last, const ShardList& shards) {
  std::string text =
      "files " + shards_identity(shards) + ", features " + SchemaHash(*parsed_schema(last)).hex() + ", replicas";
  const ReplicaPlan plan = replica_plan(last);
  for (const std::int64_t weight : plan.weights) text += " " + std::to_string(weight);
  text += " from " + std::to_string(plan.first) + " on " + std::to_string(plan.count());
  for (const Op* op : ops_in_order(last)) {
    if (std::holds_alternative<CacheOp>(op->arguments)) break;
    if (std::holds_alternative<ParseOp>(op->arguments) || std::holds_alternative<CardinalityOp>(op->arguments))
      continue;
    text += ", " + op_name(*op) + "(" + op_arguments(*op) + ")";
  }
  return text;
}

}  // namespace headrace
