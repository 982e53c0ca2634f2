#include "headrace/schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "base/utf8.h"
#include "example/transform_program.h"

namespace headrace {
namespace {

constexpr std::size_t kMaxNameBytes = 200;

Status refuse(const Feature& feature, const std::string& reason) {
  return invalid_argument("feature \"" + printable_utf8(feature.name, kMaxNameBytes) + "\": " + reason);
}

std::string text(const Shape& shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return out + "]";
}

std::string name_of(DType dtype) { return std::string(to_string(dtype)); }

bool is_sparse(FeatureKind kind) { return kind == FeatureKind::kVarLen || kind == FeatureKind::kSparse; }
bool is_dense(FeatureKind kind) {
  return !is_sparse(kind) && kind != FeatureKind::kRagged && kind != FeatureKind::kJagged;
}
bool has_keys(FeatureKind kind) { return kind == FeatureKind::kStack || kind == FeatureKind::kJagged; }

bool is_known(FeatureKind kind) { return kind >= FeatureKind::kFixedLen && kind <= FeatureKind::kImage; }
bool is_known(DType dtype) { return dtype >= DType::kBool && dtype <= DType::kFloat8E5m2fnuz; }
bool is_known(PartitionKind kind) {
  return kind >= PartitionKind::kRowSplits && kind <= PartitionKind::kUniformRowLength;
}

Status check_dtype(const Feature& feature) {
  if (!is_known(feature.kind)) return refuse(feature, "unknown kind");
  if (!is_known(feature.dtype)) return refuse(feature, "unknown dtype");
  if (feature.kind == FeatureKind::kTensor) return {};
  if (feature.kind == FeatureKind::kImage) {
    const Status status = feature.image.validate(feature.dtype, feature.shape);
    return status.ok() ? status : refuse(feature, status.message());
  }
  if (feature.kind == FeatureKind::kListLength && feature.dtype != DType::kInt64) {
    return refuse(feature, "dtype " + name_of(feature.dtype) + " of a length, which is int64");
  }
  if (feature.kind == FeatureKind::kRaw) {
    if (feature.dtype == DType::kBytes) return refuse(feature, "dtype of a RawFeature cannot be bytes");
    return {};
  }
  if (feature.kind == FeatureKind::kStack && feature.dtype == DType::kBytes) {
    return refuse(feature, "dtype of a Stack must be int64 or float32, found bytes");
  }
  if (feature.dtype != DType::kInt64 && feature.dtype != DType::kFloat32 && feature.dtype != DType::kBytes) {
    return refuse(feature,
                  "dtype " + name_of(feature.dtype) +
                      " is not in the list of allowed values: float32, int64, bytes (what an Example can hold)");
  }
  return {};
}

// The one dimension that is worked out from the number of elements needs the others to have some.
Status check_unknown_dims(const Feature& feature) {
  const auto unknown = std::count_if(feature.shape.begin(), feature.shape.end(), [](std::int64_t d) { return d < 0; });
  const bool is_worked_out = feature.kind == FeatureKind::kRaw || feature.reshape;
  const bool has_empty = std::find(feature.shape.begin(), feature.shape.end(), 0) != feature.shape.end();
  if (feature.shape.size() > kMaxUnknownRank) {
    return refuse(feature, "shape " + text(feature.shape) + " with unknown dimensions has more than " +
                               std::to_string(kMaxUnknownRank) + " of them");
  }
  if (is_worked_out && unknown > 1) {
    return refuse(feature, "shape " + text(feature.shape) + " has more than one unknown dimension");
  }
  if (is_worked_out && has_empty) {
    return refuse(feature, "shape " + text(feature.shape) + " has no elements: its unknown dimension could be any");
  }
  return {};
}

Status check_shape(const Feature& feature) {
  if (feature.unknown_rank && (!feature.shape.empty() || feature.kind != FeatureKind::kTensor || feature.reshape)) {
    return refuse(feature, "a shape of unknown rank is for TensorFeature only, without reshape");
  }
  if (!is_dense(feature.kind)) {
    if (!feature.shape.empty()) return refuse(feature, "shape " + text(feature.shape) + " where none is taken");
    return {};
  }
  const bool may_be_unknown = feature.kind == FeatureKind::kTensor || feature.kind == FeatureKind::kRaw;
  auto bytes = static_cast<std::int64_t>(size_of(feature.dtype));
  for (std::size_t i = 0; i < feature.shape.size(); ++i) {
    const std::int64_t dimension = feature.shape[i];
    if (may_be_unknown && dimension == -1) continue;
    if (dimension < 0 && i == 0) {
      return refuse(feature, "first dimension of shape " + text(feature.shape) +
                                 " unknown. Consider using FixedLenSequenceFeature");
    }
    if (dimension < 0) return refuse(feature, "all dimensions of shape " + text(feature.shape) + " need to be known");
    if (__builtin_mul_overflow(bytes, dimension, &bytes)) {
      return refuse(feature, "shape " + text(feature.shape) + " has too many elements");
    }
  }
  if (feature.kind == FeatureKind::kFixedLenSequence && element_count(feature.shape) == 0) {
    return refuse(feature, "shape " + text(feature.shape) + " of a step has no elements");
  }
  return feature.has_unknown_dims() ? check_unknown_dims(feature) : Status();
}

// `fixed_length` and the shape say the same in two ways.
Status check_fixed_length(const Feature& feature) {
  if (feature.fixed_length == 0) return {};
  const std::string given = "fixed_length (" + std::to_string(feature.fixed_length) + ")";
  const auto size = static_cast<std::int64_t>(size_of(feature.dtype));
  if (feature.kind != FeatureKind::kRaw) return refuse(feature, "fixed_length is for RawFeature only");
  if (feature.fixed_length < 0) return refuse(feature, given + " must be greater than zero.");
  if (feature.fixed_length % size != 0) {
    return refuse(feature, given + " must be a multiple of the size of out_type (" + std::to_string(size) + ")");
  }
  if (feature.has_unknown_dims() || element_count(feature.shape) * size != feature.fixed_length) {
    return refuse(feature,
                  given + " is not the size of shape " + text(feature.shape) + " of " + name_of(feature.dtype));
  }
  return {};
}

Status check_keys(const Feature& feature) {
  if (!has_keys(feature.kind)) {
    return feature.keys.empty() ? Status() : refuse(feature, "keys are for Stack and Jagged only");
  }
  if (feature.keys.empty()) return refuse(feature, "keys: there must be at least one");
  if (!feature.key.empty()) return refuse(feature, "key where keys are taken");
  std::set<std::string_view> seen;
  for (const std::string& key : feature.keys) {
    if (!seen.insert(key).second) {
      return refuse(feature, "keys: \"" + printable_utf8(key, kMaxNameBytes) + "\" is there twice");
    }
  }
  if (feature.kind == FeatureKind::kStack && feature.shape != Shape{static_cast<std::int64_t>(feature.keys.size())}) {
    return refuse(feature,
                  "shape " + text(feature.shape) + " is not that of " + std::to_string(feature.keys.size()) + " keys");
  }
  return {};
}

Status check_default(const Feature& feature) {
  const bool is_bytes = feature.dtype == DType::kBytes;
  if (!feature.has_default) return {};
  const bool takes_padding = feature.has_unknown_dims() && feature.unknown_dims == UnknownDims::kPadded;
  if (!is_dense(feature.kind) || feature.kind == FeatureKind::kImage ||
      (feature.has_unknown_dims() && !takes_padding)) {
    return refuse(feature, "default_value where none is taken");
  }
  if (feature.feature_list) return refuse(feature, "default_value of a feature list must be None");
  if (is_bytes ? !feature.default_numeric.empty() : !feature.default_bytes.empty()) {
    return refuse(feature, "default_value is not of dtype " + name_of(feature.dtype));
  }
  const std::size_t size = size_of(feature.dtype);
  if (!is_bytes && feature.default_numeric.size() % size != 0) {
    return refuse(feature, "default_value of " + std::to_string(feature.default_numeric.size()) +
                               " bytes is no whole number of " + name_of(feature.dtype) + " elements");
  }
  const auto given =
      static_cast<std::int64_t>(is_bytes ? feature.default_bytes.size() : feature.default_numeric.size() / size);
  const bool is_scalar_only = feature.kind == FeatureKind::kFixedLenSequence || takes_padding;
  const std::int64_t elements = is_scalar_only ? 1 : element_count(feature.shape);
  if (given == 1 || given == elements) return {};
  return refuse(feature, "default_value has " + std::to_string(given) + " elements, expected 1" +
                             (is_scalar_only || elements == 1
                                  ? std::string()
                                  : " or " + std::to_string(elements) + " (shape " + text(feature.shape) + ")"));
}

Status check_options(const Feature& feature) {
  if (feature.kind == FeatureKind::kFixedLenSequence && !feature.allow_missing && !feature.feature_list) {
    return refuse(feature, "unsupported: FixedLenSequenceFeature requires allow_missing to be True.");
  }
  if (feature.sparse && feature.kind != FeatureKind::kVarLen)
    return refuse(feature, "sparse is for VarLenFeature only");
  const bool is_one_string =
      feature.kind == FeatureKind::kFixedLen && feature.dtype == DType::kBytes && feature.shape.empty();
  if (feature.view && (!is_one_string || feature.has_default)) {
    return refuse(feature, "view is for one byte string without a default");
  }
  if (feature.reshape && feature.kind != FeatureKind::kTensor) {
    return refuse(feature, "reshape is for TensorFeature only");
  }
  if (feature.unknown_dims < UnknownDims::kRagged || feature.unknown_dims > UnknownDims::kEqual) {
    return refuse(feature, "unknown kind of unknown_dims");
  }
  HEADRACE_RETURN_IF_ERROR(check_fixed_length(feature));
  if (feature.row_splits_dtype != DType::kInt32 && feature.row_splits_dtype != DType::kInt64) {
    return refuse(feature, "row_splits_dtype must be int32 or int64");
  }
  if (!feature.partitions.empty() && feature.kind != FeatureKind::kRagged) {
    return refuse(feature, "partitions are for RaggedFeature only");
  }
  for (const Partition& partition : feature.partitions) {
    if (!is_known(partition.kind)) return refuse(feature, "unknown kind of partition");
    if (partition.kind == PartitionKind::kUniformRowLength && partition.row_length < 1) {
      return refuse(feature, "uniform_row_length is " + std::to_string(partition.row_length) + ", expected at least 1");
    }
  }
  return {};
}

Status check_indices(const Feature& feature) {
  if (feature.kind != FeatureKind::kSparse) {
    if (!feature.indices.empty()) return refuse(feature, "indices are for SparseFeature only");
    if (feature.already_sorted) return refuse(feature, "already_sorted is for SparseFeature only");
    return {};
  }
  if (feature.indices.empty()) return refuse(feature, "a SparseFeature needs at least one index_key");
  for (const SparseIndex& index : feature.indices) {
    if (index.size < 1) {
      return refuse(feature, "size of index_key \"" + printable_utf8(index.key, kMaxNameBytes) + "\" is " +
                                 std::to_string(index.size) + ", expected at least 1");
    }
  }
  return {};
}

bool fits_feature_list(FeatureKind kind) {
  return kind == FeatureKind::kFixedLenSequence || kind == FeatureKind::kVarLen || kind == FeatureKind::kRagged ||
         kind == FeatureKind::kListLength;
}

// What a SequenceExample has where: `before` are the features of the schema that stand before `feature`.
Status check_place(const Feature& feature, bool sequence, std::span<const Feature> before) {
  if (feature.feature_list && !sequence) return refuse(feature, "feature lists are in SequenceExamples only");
  if (feature.feature_list && !fits_feature_list(feature.kind)) {
    return refuse(
        feature,
        "a feature list takes FixedLenSequenceFeature, VarLenFeature or RaggedFeature: no other kind is supported");
  }
  if (feature.kind == FeatureKind::kListLength) {
    if (!feature.feature_list) return refuse(feature, "a length is that of a feature list");
    const bool found = std::any_of(before.begin(), before.end(), [&feature](const Feature& other) {
      return other.feature_list && other.kind == FeatureKind::kFixedLenSequence &&
             other.wire_key() == feature.wire_key();
    });
    if (!found || !feature.shape.empty())
      return refuse(feature, "a length counts the steps of a dense feature list before it");
  }
  if (sequence && !feature.feature_list && feature.kind == FeatureKind::kFixedLenSequence) {
    return refuse(feature, "unsupported: FixedLenSequenceFeature is for feature lists, not for the context");
  }
  return {};
}

enum class Use { kDense, kSparse, kRagged };

// What the features of a schema make of one wire key; all of them must agree.
class KeyUses {
 public:
  Status add(const Feature& feature) {
    const Use use = is_dense(feature.kind)    ? Use::kDense
                    : is_sparse(feature.kind) ? Use::kSparse
                                              : Use::kRagged;  // a jagged one, too
    const bool holds_bytes = feature.kind == FeatureKind::kTensor || feature.kind == FeatureKind::kRaw ||
                             feature.kind == FeatureKind::kImage;
    const DType wire_dtype = holds_bytes ? DType::kBytes : feature.dtype;
    for (const std::string& key : feature.keys) HEADRACE_RETURN_IF_ERROR(add(feature, key, use, wire_dtype));
    if (feature.keys.empty()) HEADRACE_RETURN_IF_ERROR(add(feature, feature.wire_key(), use, wire_dtype));
    for (const Partition& partition : feature.partitions) {
      if (partition.kind == PartitionKind::kUniformRowLength) continue;
      HEADRACE_RETURN_IF_ERROR(add(feature, partition.key, Use::kRagged, DType::kInt64));
    }
    for (const SparseIndex& index : feature.indices) {
      HEADRACE_RETURN_IF_ERROR(add(feature, index.key, Use::kSparse, DType::kInt64));
    }
    return {};
  }

 private:
  struct Value {
    Use use;
    DType wire_dtype;
  };

  Status add(const Feature& feature, const std::string& key, Use use, DType wire_dtype) {
    const auto [it, is_new] = uses_.try_emplace(key, Value{use, wire_dtype});
    if (is_new || (it->second.use == use && it->second.wire_dtype == wire_dtype)) return {};
    const std::string shown = "key \"" + printable_utf8(key, kMaxNameBytes) + "\"";
    if (it->second.use != use) {
      return refuse(feature, shown + " is used in two ways: dense, sparse and ragged keys must not intersect");
    }
    return refuse(feature,
                  shown + " is asked for as " + name_of(it->second.wire_dtype) + " and as " + name_of(wire_dtype));
  }

  std::map<std::string, Value> uses_;
};

// The step that a row column comes from.
std::string step_of(const std::string& row_column) {
  if (row_column == "_index") return "enumerate()";
  return row_column == "_mask" ? "prefetch_to_device(remainder=\"pad\")" : "origin=True";
}

}  // namespace

bool Feature::has_unknown_dims() const {
  if (kind != FeatureKind::kTensor && kind != FeatureKind::kRaw) return false;
  return unknown_rank || std::any_of(shape.begin(), shape.end(), [](std::int64_t dimension) { return dimension < 0; });
}

std::vector<RowColumn> Schema::row_columns() const {
  std::vector<RowColumn> columns;
  if (origin) columns.insert(columns.end(), {{"_shard"}, {"_record"}});
  if (index) columns.push_back({"_index"});
  if (mask) columns.push_back({"_mask", DType::kBool});
  return columns;
}

bool Schema::has_views() const {
  return std::any_of(features.begin(), features.end(), [](const Feature& feature) { return feature.view; });
}

Status Schema::validate() const {
  std::set<std::string_view> names;
  const std::vector<RowColumn> of_rows = row_columns();
  KeyUses uses;
  KeyUses list_uses;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Feature& feature = features[i];
    HEADRACE_RETURN_IF_ERROR(check_dtype(feature));
    HEADRACE_RETURN_IF_ERROR(check_shape(feature));
    HEADRACE_RETURN_IF_ERROR(check_keys(feature));
    HEADRACE_RETURN_IF_ERROR(check_options(feature));
    HEADRACE_RETURN_IF_ERROR(check_indices(feature));
    HEADRACE_RETURN_IF_ERROR(check_place(feature, sequence, std::span(features).first(i)));
    HEADRACE_RETURN_IF_ERROR(check_default(feature));
    if (!feature.transforms.empty() && feature.kind == FeatureKind::kImage) {
      return refuse(feature, "an image has mean and std of its own instead of transforms");
    }
    if (!feature.transforms.empty()) HEADRACE_RETURN_IF_ERROR(compile_transforms(feature).status());
    if (!names.insert(feature.name).second) return refuse(feature, "the name is there twice");
    if (std::any_of(of_rows.begin(), of_rows.end(),
                    [&feature](const RowColumn& column) { return column.name == feature.name; })) {
      return refuse(feature, "the name is taken by a column of " + step_of(feature.name));
    }
    if (feature.kind == FeatureKind::kListLength) continue;
    HEADRACE_RETURN_IF_ERROR((feature.feature_list ? list_uses : uses).add(feature));
  }
  return {};
}

}  // namespace headrace
