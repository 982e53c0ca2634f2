#include "pipeline/padded_batch.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace headrace {
namespace {

Status refuse(const Feature& feature, const std::string& reason) {
  return invalid_argument("padded_batch(): feature \"" + feature.name + "\" " + reason);
}

std::string text(const Shape& shape) {
  std::string dimensions;
  for (const std::int64_t size : shape) {
    dimensions += (dimensions.empty() ? "" : ", ") + (size < 0 ? std::string("None") : std::to_string(size));
  }
  return "[" + dimensions + "]";
}

// What default_value says of the padding.
PadValue default_of(const Feature& feature) {
  if (!feature.has_default) return {};
  if (feature.dtype == DType::kBytes) return feature.default_bytes.front();
  if (feature.dtype == DType::kFloat32) {
    float value = 0;
    std::memcpy(&value, feature.default_numeric.data(), sizeof value);
    return static_cast<double>(value);
  }
  std::int64_t value = 0;
  std::memcpy(&value, feature.default_numeric.data(), sizeof value);
  return value;
}

// How the lengths of a feature come to be alike in all rows of a batch.
enum class Lengths : std::uint8_t { kFixed, kLists, kTensors, kStays };

Lengths lengths_of(const Feature& feature, const ColumnType& type) {
  if (type.padded) return Lengths::kFixed;
  switch (feature.kind) {
    case FeatureKind::kFixedLenSequence:
      return feature.feature_list ? Lengths::kFixed : Lengths::kLists;
    case FeatureKind::kVarLen:
    case FeatureKind::kRagged:
      return feature.feature_list || !feature.partitions.empty() ? Lengths::kStays : Lengths::kLists;
    case FeatureKind::kTensor:
    case FeatureKind::kRaw:
      return feature.has_unknown_dims() ? Lengths::kTensors : Lengths::kFixed;
    case FeatureKind::kSparse:
    case FeatureKind::kJagged:
      return Lengths::kStays;
    case FeatureKind::kFixedLen:
    case FeatureKind::kListLength:
    case FeatureKind::kStack:
    case FeatureKind::kImage:
      break;
  }
  return Lengths::kFixed;
}

// `shape`, asked for, may leave dimensions open and fix the first one only where `own` leaves it open.
Status check_shape(const Feature& feature, const Shape& own, const Shape& shape) {
  bool fits = own.size() == shape.size();
  for (std::size_t i = 0; fits && i < own.size(); ++i) {
    fits = shape[i] < 0 || shape[i] == own[i] || (own[i] < 0 && i == 0);
  }
  if (fits) return {};
  return refuse(feature, "has the shape " + text(own) + ", which cannot be padded to " + text(shape));
}

Status pad_lists(const FeaturePadding& padding, const ColumnType& type, Feature* feature) {
  Shape own{-1};
  own.insert(own.end(), type.shape.begin(), type.shape.end());
  if (padding.shape) HEADRACE_RETURN_IF_ERROR(check_shape(*feature, own, *padding.shape));
  const std::int64_t count = padding.shape && padding.shape->front() >= 0 ? padding.shape->front() : Pad::kLongest;
  Pad pad{count, padding.value, count != Pad::kLongest};
  if (feature->kind != FeatureKind::kFixedLenSequence || padding.value.index() > 0) {
    feature->transforms.emplace_back(std::move(pad));
    return {};
  }
  if (count == Pad::kLongest) return {};  // what it does by itself
  const bool truncates = std::any_of(feature->transforms.begin(), feature->transforms.end(),
                                     [](const Transform& t) { return std::holds_alternative<Truncate>(t); });
  if (truncates) return refuse(*feature, "is truncated: give the value that it is padded with in padding_values");
  pad.value = default_of(*feature);
  feature->transforms.insert(feature->transforms.begin(), std::move(pad));  // its padding passes through the transforms
  return {};
}

// `named`: what is said of this feature alone; may be null. `common`: the value for all.
Status pad_feature(const FeaturePadding* named, const PadValue& common, Feature* feature) {
  HEADRACE_ASSIGN_OR_RETURN(const ColumnType type, column_type(*feature));
  switch (lengths_of(*feature, type)) {
    case Lengths::kLists: {
      FeaturePadding padding = named != nullptr ? *named : FeaturePadding();
      if (padding.value.index() == 0) padding.value = common;
      return pad_lists(padding, type, feature);
    }
    case Lengths::kTensors:
      if (named != nullptr) {
        return refuse(*feature, "is a tensor: its shape is in the record, what it is padded with its default_value");
      }
      feature->unknown_dims = UnknownDims::kPadded;
      return {};
    case Lengths::kStays:
      return refuse(*feature, "is sparse, or ragged in more than one dimension: it cannot be padded");
    case Lengths::kFixed:
      break;
  }
  if (named == nullptr) return {};
  if (named->value.index() > 0) return refuse(*feature, "is not padded: padding_values has no meaning for it");
  Shape own = type.shape;
  if (type.padded || feature->kind == FeatureKind::kFixedLenSequence) own.insert(own.begin(), type.padded_to);
  if (!named->shape) return {};
  if (feature->feature_list && named->shape->size() == own.size() && named->shape->front() >= 0) {
    return refuse(*feature, "is a feature list, which is padded to the longest of the batch");
  }
  return check_shape(*feature, own, *named->shape);
}

}  // namespace

Result<Schema> padded(const BatchPadding& padding, Schema schema) {
  for (const FeaturePadding& named : padding.features) {
    const bool is_there = std::any_of(schema.features.begin(), schema.features.end(),
                                      [&named](const Feature& feature) { return feature.name == named.name; });
    if (!is_there) return invalid_argument("padded_batch(): parse() makes no column '" + named.name + "'");
  }
  for (Feature& feature : schema.features) {
    const auto named = std::find_if(padding.features.begin(), padding.features.end(),
                                    [&feature](const FeaturePadding& p) { return p.name == feature.name; });
    const bool is_named = named != padding.features.end();
    HEADRACE_RETURN_IF_ERROR(pad_feature(is_named ? &*named : nullptr, padding.value, &feature));
  }
  HEADRACE_RETURN_IF_ERROR(schema.validate());
  return schema;
}

}  // namespace headrace
