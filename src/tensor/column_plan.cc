#include "tensor/column_plan.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "tensor/open_shape.h"

namespace headrace {
namespace {

ListKind list_kind(const Feature& feature) {
  if (feature.kind == FeatureKind::kTensor || feature.kind == FeatureKind::kRaw) return ListKind::kBytes;
  if (feature.kind == FeatureKind::kImage) return ListKind::kBytes;
  if (feature.dtype == DType::kInt64) return ListKind::kInt64;
  return feature.dtype == DType::kFloat32 ? ListKind::kFloat : ListKind::kBytes;
}

// Rows of up to that many bytes are transformed 64 at once: a call of a kernel costs more than a few values.
constexpr std::size_t kStagedBytes = 256;

DType column_dtype(const Feature& feature, const StepTransforms* transforms) {
  return transforms == nullptr ? feature.dtype : transforms->list.type.dtype;
}

bool is_variable(const Feature& feature, DType dtype) {
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
    case FeatureKind::kImage:
      return dtype == DType::kBytes && !feature.view;
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

// What transforms change in a variable column.
void apply_transforms(const Feature& feature, const StepTransforms& transforms, VariableColumn* column) {
  const TransformList& list = transforms.list;
  const ColumnType& type = list.type;
  column->transforms = &transforms;
  column->value_bytes = list.value_bytes;
  if (type.padded) column->kind = VariableKind::kSequence;
  const auto added = static_cast<std::ptrdiff_t>(feature.shape.size());  // dimensions behind those of the feature
  column->inner_shape.insert(column->inner_shape.end(), type.shape.begin() + added, type.shape.end());
  column->padding = list.padding;
  column->padding_string = list.padding_string;
  column->padded_to = type.padded_to;
}

ColumnOp dense_op(const Feature& feature) {
  if (feature.kind == FeatureKind::kTensor) return ColumnOp::kTensor;
  if (feature.kind == FeatureKind::kRaw) return ColumnOp::kRaw;
  if (feature.kind == FeatureKind::kImage) return ColumnOp::kImage;
  if (feature.kind == FeatureKind::kListLength) return ColumnOp::kListLength;
  if (feature.view) return ColumnOp::kView;
  if (feature.dtype == DType::kBytes) return ColumnOp::kStrings;
  const bool scalar = element_count(feature.shape) == 1;
  if (feature.dtype == DType::kInt64) return scalar ? ColumnOp::kScalarInt64 : ColumnOp::kInt64s;
  return scalar ? ColumnOp::kScalarFloat : ColumnOp::kFloats;
}

void pick(std::size_t place, std::vector<double>* constants) {
  if (constants->size() > 1) *constants = {(*constants)[place]};
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
  // Constants along the last dimension: one for each key.
  for (Transform& transform : part.transforms) {
    if (auto* scale = std::get_if<Scale>(&transform)) {
      pick(place, &scale->mul);
      pick(place, &scale->add);
    } else if (auto* normalize = std::get_if<Normalize>(&transform)) {
      pick(place, &normalize->mean);
      pick(place, &normalize->std);
    }
  }
  return part;
}

}  // namespace

ColumnPlan::ColumnPlan(const Schema& schema_in) : schema(schema_in), row_columns(schema_in.row_columns()) {
  for (const Feature& feature : schema.features) {
    types.push_back(*column_type(feature));  // a validated schema has no other
    columns.push_back({static_cast<std::uint32_t>(columns.size()), static_cast<std::uint32_t>(steps.size())});
    if (feature.keys.empty()) add_step(feature);
    for (std::size_t place = 0; place < feature.keys.size(); ++place) {
      if (feature.kind == FeatureKind::kStack) {
        add_step(feature_of_key(feature, place), feature.keys.size());
        if (place > 0) dense_row_bytes.pop_back();  // the first key has made the part
        steps.back().part = static_cast<std::uint32_t>(dense_row_bytes.size()) - 1;
      } else {
        add_step(feature_of_key(feature, place));
        variables.back().jagged_keys = static_cast<std::uint32_t>(feature.keys.size());
        variables.back().jagged_place = static_cast<std::uint32_t>(place);
        if (place == 0) variables.back().keys = std::make_shared<const std::vector<std::string>>(feature.keys);
      }
    }
  }
  keys = std::make_shared<const KeySet>(key_names_);
  list_keys = std::make_shared<const KeySet>(list_key_names_);
  has_views = schema.has_views();
  points_into_rows = has_views || std::any_of(staged.begin(), staged.end(), [this](std::uint32_t step) {
                       return features[steps[step].feature].dtype == DType::kBytes;
                     });
}

void ColumnPlan::add_step(const Feature& feature, std::size_t stacked_keys) {
  ColumnStep step{};
  step.list = list_kind(feature);
  step.key = key_index(feature, feature.wire_key());
  step.feature = static_cast<std::uint32_t>(features.size());
  step.count = element_count(feature.shape);
  StepTransforms* const transforms = add_transforms(feature);
  step.transforms = transforms;
  if (feature.has_unknown_dims()) {
    add_open(feature, transforms, &step);
  } else if (is_variable(feature, column_dtype(feature, transforms))) {
    add_variable(feature, transforms, &step);
  } else {
    add_dense(feature, stacked_keys, transforms, &step);
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

StepTransforms* ColumnPlan::add_transforms(const Feature& feature) {
  if (feature.transforms.empty()) return nullptr;
  TransformList list = *compile_transforms(feature);  // a validated schema has no other
  const bool counts = list.type.limit >= 0 || list.type.padded;
  if (list.program.empty() && !counts) return nullptr;
  transforms_.push_back(std::make_unique<StepTransforms>());
  transforms_.back()->list = std::move(list);
  transforms_.back()->number = static_cast<std::uint32_t>(transformed.size());
  transformed.push_back(static_cast<std::uint32_t>(features.size()));
  return transforms_.back().get();
}

void ColumnPlan::add_dense(const Feature& feature, std::size_t stacked_keys, StepTransforms* transforms,
                           ColumnStep* step) {
  const auto count = static_cast<std::size_t>(step->count);
  step->op = dense_op(feature);
  step->bytes = count * (transforms == nullptr ? size_of(feature.dtype) : transforms->list.wire_bytes);
  if (transforms != nullptr) {
    transforms->row_bytes = count * transforms->list.value_bytes;
    transforms->staged = step->bytes <= kStagedBytes;
    transforms->stride = transforms->row_bytes * stacked_keys;
  }
  step->stride = step->staged() ? step->bytes : step->row_bytes() * stacked_keys;
  if (step->staged()) {
    staged.push_back(static_cast<std::uint32_t>(steps.size()));
    staging_bytes += step->bytes * kStagedRows;
    largest_staged = std::max(largest_staged, step->row_bytes() * kStagedRows);
  } else if (step->direct()) {
    largest_direct = std::max(largest_direct, step->bytes);
  }
  if (step->op == ColumnOp::kListLength) {
    const auto list = std::find_if(steps.begin(), steps.end(), [this, step](const ColumnStep& other) {
      return other.key == step->key && features[other.feature].feature_list &&
             features[other.feature].kind == FeatureKind::kFixedLenSequence;
    });
    step->slot = list->slot;
    step->count = list->count;
  }
  step->part = static_cast<std::uint32_t>(dense_row_bytes.size());
  dense_row_bytes.push_back(step->column_stride());
  if (feature.has_default) step->fallback = add_fallback(feature, *step);
}

// What a row without the key gets at its slot.
const std::uint8_t* ColumnPlan::add_fallback(const Feature& feature, const ColumnStep& step) {
  auto image = std::make_unique<std::vector<std::uint8_t>>(default_values(feature, step.count));
  if (step.direct()) {
    std::vector<std::uint8_t> column(step.row_bytes());
    TransformScratch scratch;
    (void)step.transforms->list.program.run(image->data(), column.data(), step.count, scratch);
    *image = std::move(column);
  }
  image->resize(std::max<std::size_t>(step.fallback_bytes(), 1));  // so that its address is never null
  images_.push_back(std::move(image));
  return images_.back()->data();
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

void ColumnPlan::add_variable(const Feature& feature, StepTransforms* transforms, ColumnStep* step) {
  VariableColumn column;
  column.feature = step->feature;
  column.step = static_cast<std::uint32_t>(steps.size());
  column.slot = slots;
  column.dtype = column_dtype(feature, transforms);
  column.inner_shape = feature.shape;
  column.stride = step->count;
  step->slot = slots;
  step->variable = static_cast<std::uint32_t>(variables.size());
  step->op = ColumnOp::kNoteValues;
  column.value_bytes = size_of(feature.dtype);

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
    case FeatureKind::kImage:  // dense
      break;
  }
  if (transforms != nullptr) {
    apply_transforms(feature, *transforms, &column);
    if (transforms->list.type.limit >= 0) transforms->limit = transforms->list.type.limit * step->count;
    if (transforms->list.type.most >= 0) transforms->most = transforms->list.type.most * step->count;
  }
  if (feature.feature_list) step->op = ColumnOp::kNoteList;
  column.is_row_strings = column.kind == VariableKind::kFixed && column.dtype == DType::kBytes && !feature.feature_list;
  has_row_strings = has_row_strings || column.is_row_strings;
  step->slots = 1 + static_cast<std::uint32_t>(column.levels.size() + column.dimensions.size());
  slots += static_cast<std::int32_t>(step->slots);
  variables.push_back(std::move(column));
}

void ColumnPlan::add_open(const Feature& feature, const StepTransforms* transforms, ColumnStep* step) {
  VariableColumn column;
  column.feature = step->feature;
  column.step = static_cast<std::uint32_t>(steps.size());
  column.slot = slots;
  column.kind = VariableKind::kOpen;
  column.dtype = column_dtype(feature, transforms);
  column.value_bytes = size_of(feature.dtype);
  set_padding(feature, &column);
  if (transforms != nullptr) apply_transforms(feature, *transforms, &column);
  compares_rows = compares_rows || shapes_must_agree(feature);
  step->op = ColumnOp::kNoteOpen;
  step->slot = slots;
  step->variable = static_cast<std::uint32_t>(variables.size());
  step->slots = static_cast<std::uint32_t>(open_note_slots(feature));
  slots += static_cast<std::int32_t>(step->slots);
  variables.push_back(std::move(column));
}

}  // namespace headrace
