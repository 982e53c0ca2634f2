#include "tensor/column_plan.h"

#include <algorithm>
#include <cstring>

#include "tensor/open_shape.h"

namespace headrace {
namespace {

ListKind list_kind(const Feature& feature) {
  if (feature.kind == FeatureKind::kTensor || feature.kind == FeatureKind::kRaw) return ListKind::kBytes;
  if (feature.dtype == DType::kInt64) return ListKind::kInt64;
  return feature.dtype == DType::kFloat32 ? ListKind::kFloat : ListKind::kBytes;
}

bool is_variable(const Feature& feature) {
  switch (feature.kind) {
    case FeatureKind::kVarLen:
    case FeatureKind::kRagged:
    case FeatureKind::kFixedLenSequence:
    case FeatureKind::kSparse:
      return true;
    case FeatureKind::kFixedLen:
    case FeatureKind::kTensor:
    case FeatureKind::kRaw:
    case FeatureKind::kListLength:
      return feature.dtype == DType::kBytes && !feature.view;
    case FeatureKind::kStack:
    case FeatureKind::kJagged:
      break;  // there is a feature per key instead
  }
  return false;
}

void set_padding(const Feature& feature, VariableColumn* column) {
  column->padding.assign(size_of(feature.dtype), 0);
  if (!feature.has_default) return;
  if (feature.dtype == DType::kBytes && !feature.default_bytes.empty()) {
    column->padding_string = feature.default_bytes.front();
  } else if (feature.default_numeric.size() == column->padding.size()) {
    column->padding = feature.default_numeric;
  }
}

ColumnOp dense_op(const Feature& feature) {
  if (feature.kind == FeatureKind::kTensor) return ColumnOp::kTensor;
  if (feature.kind == FeatureKind::kRaw) return ColumnOp::kRaw;
  if (feature.kind == FeatureKind::kListLength) return ColumnOp::kListLength;
  if (feature.view) return ColumnOp::kView;
  const bool scalar = element_count(feature.shape) == 1;
  if (feature.dtype == DType::kInt64) return scalar ? ColumnOp::kScalarInt64 : ColumnOp::kInt64s;
  return scalar ? ColumnOp::kScalarFloat : ColumnOp::kFloats;
}

// What a stack or a jagged feature asks of its key `place`.
Feature feature_of_key(const Feature& feature, std::size_t place) {
  Feature part = feature;
  part.kind = feature.kind == FeatureKind::kStack ? FeatureKind::kFixedLen : FeatureKind::kVarLen;
  part.key = feature.keys[place];
  part.keys.clear();
  part.shape.clear();
  const std::size_t size = size_of(feature.dtype);
  if (feature.default_numeric.size() > size) {
    const auto first = feature.default_numeric.begin() + static_cast<std::ptrdiff_t>(place * size);
    part.default_numeric.assign(first, first + static_cast<std::ptrdiff_t>(size));
  }
  return part;
}

}  // namespace

ColumnPlan::ColumnPlan(const Schema& schema_in) : schema(schema_in) {
  for (const Feature& feature : schema.features) {
    columns.push_back({static_cast<std::uint32_t>(columns.size()), static_cast<std::uint32_t>(steps.size())});
    if (feature.keys.empty()) add_step(feature);
    for (std::size_t place = 0; place < feature.keys.size(); ++place) {
      add_step(feature_of_key(feature, place));
      if (feature.kind == FeatureKind::kStack) {
        // The first key has made the part.
        if (place > 0) dense_row_bytes.pop_back();
        ColumnStep& step = steps.back();
        step.part = static_cast<std::uint32_t>(dense_row_bytes.size()) - 1;
        step.stride = step.bytes * feature.keys.size();
        dense_row_bytes.back() = step.stride;
      } else {
        variables.back().jagged_keys = static_cast<std::uint32_t>(feature.keys.size());
        variables.back().jagged_place = static_cast<std::uint32_t>(place);
        if (place == 0) variables.back().keys = std::make_shared<const std::vector<std::string>>(feature.keys);
      }
    }
  }
  keys = std::make_shared<const KeySet>(key_names_);
  list_keys = std::make_shared<const KeySet>(list_key_names_);
  has_views = schema.has_views();
}

void ColumnPlan::add_step(const Feature& feature) {
  ColumnStep step{};
  step.list = list_kind(feature);
  step.key = key_index(feature, feature.wire_key());
  step.feature = static_cast<std::uint32_t>(features.size());
  step.count = element_count(feature.shape);
  if (feature.has_unknown_dims()) {
    add_open(feature, &step);
  } else if (is_variable(feature)) {
    add_variable(feature, &step);
  } else {
    add_dense(feature, &step);
  }
  steps.push_back(step);
  features.push_back(feature);
}

std::uint32_t ColumnPlan::key_index(const Feature& feature, const std::string& key) {
  std::vector<std::string>& names = feature.feature_list ? list_key_names_ : key_names_;
  const auto found = std::find(names.begin(), names.end(), key);
  const auto index = static_cast<std::uint32_t>(found - names.begin());
  if (found == names.end()) names.push_back(key);
  return index;
}

void ColumnPlan::add_dense(const Feature& feature, ColumnStep* step) {
  step->op = dense_op(feature);
  step->bytes = static_cast<std::size_t>(step->count) * size_of(feature.dtype);
  if (step->op == ColumnOp::kListLength) {
    const auto list = std::find_if(steps.begin(), steps.end(), [this, step](const ColumnStep& other) {
      return other.key == step->key && features[other.feature].feature_list &&
             features[other.feature].kind == FeatureKind::kFixedLenSequence;
    });
    step->slot = list->slot;
    step->count = list->count;
  }
  step->stride = step->bytes;
  step->part = static_cast<std::uint32_t>(dense_row_bytes.size());
  dense_row_bytes.push_back(step->stride);
  if (!feature.has_default) return;
  auto image = std::make_unique<std::vector<std::uint8_t>>(feature.default_numeric);
  if (image->size() < step->bytes) {  // one element for all
    const std::size_t size = image->size();
    image->resize(step->bytes);
    for (std::size_t at = size; size > 0 && at < step->bytes; at += size) {
      std::memcpy(image->data() + at, image->data(), size);
    }
  }
  image->resize(std::max<std::size_t>(step->bytes, 1));  // so that its address is never null
  step->fallback = image->data();
  images_.push_back(std::move(image));
}

void ColumnPlan::add_ragged(const Feature& feature, VariableColumn* column, ColumnStep* step) {
  column->kind = VariableKind::kRagged;
  if (!feature.partitions.empty()) step->op = ColumnOp::kNoteRagged;
  if (feature.feature_list) column->levels.emplace_back();
  std::size_t levels = feature.partitions.size();
  while (levels > 0 && feature.partitions[levels - 1].kind == PartitionKind::kUniformRowLength) {
    --levels;
    column->stride *= feature.partitions[levels].row_length;
    column->inner_shape.insert(column->inner_shape.begin(), feature.partitions[levels].row_length);
  }
  for (std::size_t i = 0; i < levels; ++i) {
    const Partition& partition = feature.partitions[i];
    RaggedLevel level{partition.kind, 0, partition.key, partition.row_length};
    if (partition.kind != PartitionKind::kUniformRowLength) level.key = key_index(feature, partition.key);
    column->levels.push_back(std::move(level));
  }
  step->count = column->stride;
}

void ColumnPlan::add_variable(const Feature& feature, ColumnStep* step) {
  VariableColumn column;
  column.feature = step->feature;
  column.step = static_cast<std::uint32_t>(steps.size());
  column.slot = slots;
  column.dtype = feature.dtype;
  column.inner_shape = feature.shape;
  column.stride = step->count;
  step->slot = slots;
  step->variable = static_cast<std::uint32_t>(variables.size());
  step->op = ColumnOp::kNoteValues;

  switch (feature.kind) {
    case FeatureKind::kVarLen:
    case FeatureKind::kRagged:
      add_ragged(feature, &column, step);
      break;
    case FeatureKind::kSparse:
      column.kind = VariableKind::kSparse;
      step->op = ColumnOp::kNoteSparse;
      for (const SparseIndex& index : feature.indices) {
        column.dimensions.push_back({key_index(feature, index.key), index.key, index.size});
      }
      break;
    case FeatureKind::kFixedLenSequence:
      column.kind = VariableKind::kSequence;
      set_padding(feature, &column);
      break;
    case FeatureKind::kFixedLen:
    case FeatureKind::kTensor:
    case FeatureKind::kRaw:
    case FeatureKind::kListLength:
      column.kind = VariableKind::kFixed;
      step->op = feature.kind == FeatureKind::kTensor ? ColumnOp::kNoteTensor : ColumnOp::kNoteStrings;
      if (feature.has_default) {
        column.fallback_strings = feature.default_bytes;
        if (feature.default_bytes.size() == 1) {
          column.fallback_strings.assign(static_cast<std::size_t>(column.stride), feature.default_bytes.front());
        }
      }
      break;
    case FeatureKind::kStack:
    case FeatureKind::kJagged:
      break;
  }
  if (feature.feature_list) step->op = ColumnOp::kNoteList;
  step->slots = 1 + static_cast<std::uint32_t>(column.levels.size() + column.dimensions.size());
  slots += static_cast<std::int32_t>(step->slots);
  variables.push_back(std::move(column));
}

void ColumnPlan::add_open(const Feature& feature, ColumnStep* step) {
  VariableColumn column;
  column.feature = step->feature;
  column.step = static_cast<std::uint32_t>(steps.size());
  column.slot = slots;
  column.kind = VariableKind::kOpen;
  column.dtype = feature.dtype;
  column.inner_shape = feature.shape;
  set_padding(feature, &column);
  compares_rows = compares_rows || shapes_must_agree(feature);
  step->op = ColumnOp::kNoteOpen;
  step->slot = slots;
  step->variable = static_cast<std::uint32_t>(variables.size());
  step->slots = static_cast<std::uint32_t>(open_note_slots(feature));
  slots += static_cast<std::int32_t>(step->slots);
  variables.push_back(std::move(column));
}

}  // namespace headrace
