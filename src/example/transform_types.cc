#include "example/transform_types.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/utf8.h"

namespace headrace {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
/// Values that one value may become, or a row be padded to: beyond, a typing error would be gigabytes.
constexpr std::int64_t kMaxCount = std::int64_t{1} << 24;

std::string name_of(DType dtype) { return std::string(to_string(dtype)); }

bool is_number(DType dtype) { return dtype >= DType::kBool && dtype <= DType::kFloat64; }

bool can_cut(const Feature& feature) {
  if (feature.feature_list) return false;
  return feature.kind == FeatureKind::kVarLen || feature.kind == FeatureKind::kJagged ||
         feature.kind == FeatureKind::kFixedLenSequence ||
         (feature.kind == FeatureKind::kRagged && feature.partitions.empty());
}

// What each transform asks of the dtype it gets.
class TypeStep {
 public:
  TypeStep(const Feature& feature, std::size_t place, ColumnType* type)
      : feature_(feature), place_(place), type_(*type) {}

  Status check_feature() const {
    if (feature_.view) return refuse("not for views, which are the bytes of the record");
    return feature_.kind == FeatureKind::kListLength ? refuse("not for the length of a feature list") : Status();
  }

  Status operator()(const Cast& cast) {
    if (!is_number(type_.dtype)) return wants("numbers");
    if (!is_number(cast.dtype)) return refuse("no cast to " + name_of(cast.dtype));
    type_.dtype = cast.dtype;
    return {};
  }
  Status operator()(const Scale& scale) {
    HEADRACE_RETURN_IF_ERROR(check_real());
    HEADRACE_RETURN_IF_ERROR(check_constants("mul", scale.mul));
    return check_constants("add", scale.add);
  }
  Status operator()(const Normalize& normalize) {
    HEADRACE_RETURN_IF_ERROR(check_real());
    HEADRACE_RETURN_IF_ERROR(check_constants("mean", normalize.mean));
    HEADRACE_RETURN_IF_ERROR(check_constants("std", normalize.std));
    for (const double value : normalize.std) {
      if (!(std::abs(value) > 0)) return refuse("std has a value that is 0 or no number");
    }
    return {};
  }
  Status operator()(const Clip& clip) {
    if (!is_integer(type_.dtype) && !is_real(type_.dtype)) return wants("whole numbers, float32 or float64");
    HEADRACE_RETURN_IF_ERROR(check_constant("lo", clip.lo));
    HEADRACE_RETURN_IF_ERROR(check_constant("hi", clip.hi));
    const bool ordered = is_integer(type_.dtype) ? std::get<std::int64_t>(clip.lo) <= std::get<std::int64_t>(clip.hi)
                                                 : as_double(clip.lo) <= as_double(clip.hi);
    return ordered ? Status() : refuse("lo must not be above hi");
  }
  Status operator()(const Log1p&) { return check_real(); }
  Status operator()(const FillNan&) { return check_real(); }
  Status operator()(const Bucketize& bucketize) {
    if (type_.dtype != DType::kInt32 && type_.dtype != DType::kInt64 && !is_real(type_.dtype)) {
      return wants("int32, int64, float32 or float64");
    }
    const std::vector<float>& boundaries = bucketize.boundaries;
    if (std::any_of(boundaries.begin(), boundaries.end(), [](float value) { return std::isnan(value); })) {
      return refuse("a boundary is no number");
    }
    if (!std::is_sorted(boundaries.begin(), boundaries.end())) return refuse("the boundaries are not in order");
    type_.dtype = DType::kInt32;
    return {};
  }
  Status operator()(const OneHot& one_hot) {
    if (!is_integer(type_.dtype)) return wants("whole numbers");
    if (!is_number(one_hot.dtype)) return refuse("no one_hot of " + name_of(one_hot.dtype));
    HEADRACE_RETURN_IF_ERROR(check_count("depth", one_hot.depth));
    if (place_ + 1 != feature_.transforms.size()) return refuse("it must be the last of the list");
    if (feature_.kind == FeatureKind::kSparse || feature_.kind == FeatureKind::kJagged) {
      return refuse("not for SparseFeature and Jagged, which hold one value at a place");
    }
    type_.dtype = one_hot.dtype;
    type_.shape.push_back(one_hot.depth);
    return {};
  }
  Status operator()(const HashBucket& hash) {
    if (type_.dtype != DType::kBytes && !is_integer(type_.dtype)) return wants("strings or whole numbers");
    if (hash.buckets < 1) return refuse("the number of buckets must be at least 1");
    type_.dtype = DType::kInt64;
    return {};
  }
  Status operator()(const Mod& mod) {
    if (!is_integer(type_.dtype)) return wants("whole numbers");
    if (mod.divisor < 1) return refuse("the divisor must be at least 1");
    return check_constant("the divisor", mod.divisor);
  }
  Status operator()(const Lookup& lookup) {
    const bool strings = type_.dtype == DType::kBytes;
    if (!strings && !is_integer(type_.dtype)) return wants("strings or whole numbers");
    if (strings ? !lookup.integers.empty() : !lookup.strings.empty()) {
      return refuse("the vocabulary must hold " + std::string(strings ? "strings" : "whole numbers") +
                    ", as the values");
    }
    if (lookup.num_oov_buckets < 0) return refuse("num_oov_buckets must be at least 0");
    const auto size = static_cast<std::int64_t>(strings ? lookup.strings.size() : lookup.integers.size());
    if (lookup.num_oov_buckets > std::numeric_limits<std::int64_t>::max() - size) {
      return refuse("num_oov_buckets is too large");
    }
    type_.dtype = DType::kInt64;
    return {};
  }
  Status operator()(const Truncate& truncate) { return cut(truncate.count); }
  Status operator()(const Pad& pad) {
    if (feature_.kind == FeatureKind::kJagged) return refuse("a jagged column has no padding");
    HEADRACE_RETURN_IF_ERROR(check_cut());
    if (pad.count != Pad::kLongest) HEADRACE_RETURN_IF_ERROR(check_count("the count", pad.count));
    if (pad.refuse_longer) {
      type_.most = pad.count;
    } else if (pad.count != Pad::kLongest) {
      limit_to(pad.count);
    }
    type_.padded = true;
    type_.padded_to = pad.count == Pad::kLongest ? -1 : pad.count;
    const bool is_bytes = type_.dtype == DType::kBytes;
    if (const auto* whole = std::get_if<std::int64_t>(&pad.value); whole != nullptr && !is_bytes) {
      return check_constant("value", *whole);
    }
    if (const auto* real = std::get_if<double>(&pad.value); real != nullptr && !is_bytes) {
      return is_integer(type_.dtype) ? check_constant("value", *real) : Status();
    }
    if (std::holds_alternative<std::monostate>(pad.value)) return {};
    if (std::holds_alternative<std::string>(pad.value) == is_bytes) return {};
    return refuse(std::string("value must be a ") + (is_bytes ? "string" : "number") + ", as the values");
  }

  // Bytes of a record's part of the column must be a number.
  Status check_size() const {
    auto bytes = static_cast<std::int64_t>(size_of(type_.dtype));
    bool fits = type_.padded_to < 0 || !__builtin_mul_overflow(bytes, type_.padded_to, &bytes);
    for (const std::int64_t dimension : type_.shape) {
      fits = fits && !__builtin_mul_overflow(bytes, std::max<std::int64_t>(dimension, 1), &bytes);
    }
    return fits ? Status() : refuse("the column has too many elements");
  }

 private:
  Status refuse(std::string_view reason) const { return refuse_transform(feature_, place_, reason); }
  Status wants(std::string_view what) const {
    return refuse("takes " + std::string(what) + ", the values are " + name_of(type_.dtype) + " here");
  }
  Status check_real() const { return is_real(type_.dtype) ? Status() : wants("float32 or float64"); }

  Status check_constants(std::string_view parameter, const std::vector<double>& values) const {
    if (values.size() == 1) return {};
    const std::int64_t dimension = last_dimension(feature_, type_);
    if (static_cast<std::int64_t>(values.size()) == dimension && dimension > 0) return {};
    return refuse(std::string(parameter) + " has " + std::to_string(values.size()) + " values, expected 1" +
                  (dimension > 1 ? " or " + std::to_string(dimension) + " (the last dimension)" : ""));
  }
  Status check_constant(std::string_view parameter, const Number& number) const {
    const std::string name(parameter);
    if (type_.dtype == DType::kBool) return refuse(name + " for bool values");
    if (!is_integer(type_.dtype)) return std::isnan(as_double(number)) ? refuse(name + " is no number") : Status();
    const auto* value = std::get_if<std::int64_t>(&number);
    if (value == nullptr) return refuse(name + " must be a whole number, as the values");
    const bool is_signed = type_.dtype >= DType::kInt8 && type_.dtype <= DType::kInt64;
    const int bits = static_cast<int>(size_of(type_.dtype)) * 8 - (is_signed ? 1 : 0);
    const std::int64_t highest = bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
    const std::int64_t lowest = is_signed ? -highest - 1 : 0;
    if (*value >= lowest && *value <= highest) return {};
    return refuse(name + " " + std::to_string(*value) + " does not fit " + name_of(type_.dtype));
  }
  Status check_count(std::string_view parameter, std::int64_t count) const {
    if (count >= 1 && count <= kMaxCount) return {};
    return refuse(std::string(parameter) + " is " + std::to_string(count) + ", expected 1 to " +
                  std::to_string(kMaxCount));
  }
  Status check_cut() const {
    if (!can_cut(feature_)) {
      return refuse(
          "the number of values must vary: VarLenFeature, RaggedFeature without partitions, "
          "FixedLenSequenceFeature; not the steps of a feature list");
    }
    return type_.padded ? refuse("the rows are padded before it") : Status();
  }
  Status cut(std::int64_t count) {
    HEADRACE_RETURN_IF_ERROR(check_cut());
    HEADRACE_RETURN_IF_ERROR(check_count("the count", count));
    limit_to(count);
    return {};
  }
  void limit_to(std::int64_t count) { type_.limit = type_.limit < 0 ? count : std::min(type_.limit, count); }
  static double as_double(const Number& number) {
    const auto* whole = std::get_if<std::int64_t>(&number);
    return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(number);
  }

  const Feature& feature_;
  const std::size_t place_;
  ColumnType& type_;
};

}  // namespace

std::string_view transform_name(const Transform& transform) {
  static constexpr std::string_view kNames[] = {"cast",     "scale",     "normalize", "clip",        "log1p",
                                                "fill_nan", "bucketize", "one_hot",   "hash_bucket", "mod",
                                                "lookup",   "truncate",  "pad"};
  static_assert(std::size(kNames) == std::variant_size_v<Transform>);
  return kNames[transform.index()];
}

bool is_integer(DType dtype) { return dtype >= DType::kInt8 && dtype <= DType::kUint64; }
bool is_real(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

ColumnType plain_type(const Feature& feature) { return {.dtype = feature.dtype, .shape = feature.shape}; }

std::int64_t last_dimension(const Feature& feature, const ColumnType& type) {
  if (!type.shape.empty()) return type.shape.back();
  if (type.padded_to >= 0) return type.padded_to;
  if (feature.partitions.empty() || feature.partitions.back().kind != PartitionKind::kUniformRowLength) return 0;
  return feature.partitions.back().row_length;
}

Status refuse_transform(const Feature& feature, std::size_t place, std::string_view reason) {
  return invalid_argument("feature \"" + printable_utf8(feature.name, kMaxNameBytes) + "\": transform[" +
                          std::to_string(place) + "], " + std::string(transform_name(feature.transforms[place])) +
                          ": " + std::string(reason));
}

Status apply_to_type(const Feature& feature, std::size_t place, ColumnType* type) {
  TypeStep step(feature, place, type);
  HEADRACE_RETURN_IF_ERROR(step.check_feature());
  HEADRACE_RETURN_IF_ERROR(std::visit(step, feature.transforms[place]));
  return step.check_size();
}

Result<ColumnType> column_type(const Feature& feature) {
  ColumnType type = plain_type(feature);
  for (std::size_t place = 0; place < feature.transforms.size(); ++place) {
    HEADRACE_RETURN_IF_ERROR(apply_to_type(feature, place, &type));
  }
  return type;
}

}  // namespace headrace
