// ColumnPlan: what a schema means for the parser, worked out once: one step per feature with everything the row loop needs.
//
// Constant after construction; shared by all jobs and threads of a parser.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "example/example_reader.h"
#include "example/transform_program.h"
#include "headrace/schema.h"

namespace headrace {

/// What phase 1 does with one feature of one record. The dense ones write the column, the others take a note.
enum class ColumnOp : std::uint8_t {
  kScalarInt64 = 1,
  kScalarFloat,
  kInt64s,       ///< a fixed number of values
  kFloats,       ///< a fixed number of values
  kStrings,      ///< a fixed number of strings that transforms make numbers
  kTensor,       ///< TensorProto
  kListLength,   ///< steps of a feature list that was noted
  kView,         ///< one byte string, as a header that points into the record
  kImage,        ///< JPEG or PNG file
  kRaw,          ///< the elements themselves
  kNoteValues,   ///< list of any length; int64, float32 or bytes
  kNoteStrings,  ///< a fixed number of byte strings
  kNoteTensor,   ///< TensorProto of byte strings
  kNoteRagged,   ///< list of any length with partitions
  kNoteSparse,   ///< list of any length with lists of indices
  kNoteList,     ///< feature list: a list of lists
  kNoteOpen,     ///< TensorProto or raw elements whose shape has open dimensions
};

/// Rows that are transformed at once, when they are small.
constexpr std::size_t kStagedRows = 64;

/// What transforms change in a step.
struct StepTransforms {
  TransformList list;
  std::uint32_t number = 0;        ///< index in ColumnPlan::transformed
  bool staged = false;             ///< dense columns: some rows at once, see transformed_columns.h; else row by row
  std::size_t row_bytes = 0;       ///< dense columns: what becomes of a record's values
  std::size_t stride = 0;          ///< staged: bytes from one record's slot in the column to the next one's
  std::int64_t limit = INT64_MAX;  ///< variable columns: values of a record that are kept
  std::int64_t most = INT64_MAX;   ///< variable columns: a record with more does not fit
};

/// One feature in the row loop; kept small, all of a wide schema stay in the first-level cache.
struct ColumnStep {
  ColumnOp op;
  ListKind list;               ///< kind that the record must have
  std::uint32_t key = 0;       ///< index in the KeySet of features, or of feature lists
  std::uint32_t feature = 0;   ///< index in ColumnPlan::features
  std::int32_t slot = -1;      ///< first note of a variable column; kListLength: of the list it counts
  std::uint32_t slots = 0;     ///< its notes
  std::uint32_t variable = 0;  ///< index in ColumnPlan::variables
  std::uint32_t part = 0;      ///< index in ColumnPlan::dense_row_bytes (dense columns)
  std::int64_t count = 1;      ///< values per record, per step for a sequence
  std::size_t bytes = 0;       ///< bytes of a record's values before transforms (dense columns)
  /// Bytes from one record's slot to the next one's where phase 1 writes: in the column (of a stack, all its keys'), or in
  /// the memory of staged rows.
  std::size_t stride = 0;
  /// Image of the default in a slot; null: the key is required (dense columns).
  const std::uint8_t* fallback = nullptr;
  const StepTransforms* transforms = nullptr;  ///< null: values are stored as they are read

  bool dense() const { return op <= ColumnOp::kRaw; }
  bool staged() const { return transforms != nullptr && transforms->staged; }
  /// Transformed row by row.
  bool direct() const { return transforms != nullptr && !transforms->staged; }
  /// Bytes of a record's values in the column.
  std::size_t row_bytes() const { return transforms == nullptr ? bytes : transforms->row_bytes; }
  /// Bytes of its image: what phase 1 writes in a slot.
  std::size_t fallback_bytes() const { return direct() ? transforms->row_bytes : bytes; }
  std::size_t column_stride() const { return staged() ? transforms->stride : stride; }
};

/// How the elements of a variable column are arranged.
enum class VariableKind : std::uint8_t { kFixed = 1, kSequence, kRagged, kSparse, kOpen };

/// One ragged dimension below the first.
struct RaggedLevel {
  PartitionKind kind = PartitionKind::kRowSplits;
  std::uint32_t key = 0;  ///< index in the step's KeySet; not for kUniformRowLength
  std::string name;       ///< the key itself
  std::int64_t row_length = 0;
};

/// One dimension of a sparse feature.
struct SparseDimension {
  std::uint32_t key = 0;  ///< index in the KeySet
  std::string name;       ///< the key itself
  std::int64_t size = 0;
};

/// What phase 2 needs of a variable column. Its notes: the values at `slot`, then one per level or sparse dimension;
/// kOpen: see open_shape.h.
struct VariableColumn {
  std::uint32_t feature = 0;  ///< index in ColumnPlan::features
  std::uint32_t step = 0;
  std::int32_t slot = 0;
  VariableKind kind = VariableKind::kFixed;
  DType dtype = DType::kInt64;
  std::size_t value_bytes = 8;  ///< numeric columns: what one value is in the column
  std::int64_t stride = 1;      ///< kFixed: elements per record; kSequence: per step; kRagged: per innermost row
  Shape inner_shape;            ///< dimensions inside a step or an innermost row; kOpen: inside an element
  /// Outermost first; uniform ones at the end are in inner_shape instead. Of a ragged feature list the first are the steps,
  /// of which only the number of rows means anything.
  std::vector<RaggedLevel> levels;
  std::vector<SparseDimension> dimensions;    ///< kSparse: outermost first
  std::vector<std::string> fallback_strings;  ///< kFixed: `stride` of them, when there is a default
  /// kSequence, kOpen: image of the padding, again and again along a row (numeric). One element without transforms.
  std::vector<std::uint8_t> padding;
  std::string padding_string;                  ///< the same for bytes
  std::int64_t padded_to = -1;                 ///< kSequence: steps of every row; -1: the longest of the batch
  const StepTransforms* transforms = nullptr;  ///< null: values are stored as they are read
  std::uint32_t jagged_keys = 0;   ///< keys of the jagged column that it is a part of; 0: it is a column of its own
  std::uint32_t jagged_place = 0;  ///< which of them it is
  std::shared_ptr<const std::vector<std::string>> keys;  ///< the keys, for the first of them
  bool is_row_strings =
      false;  ///< a fixed number of strings, which can be written before those of later rows are known
};

/// One column of a slice. Its steps follow one another: one, or one per key of a stack or a jagged column.
struct PlannedColumn {
  std::uint32_t feature = 0;  ///< index in the schema
  std::uint32_t step = 0;     ///< the first
};

struct ColumnPlan {
  explicit ColumnPlan(const Schema& schema_in);

  Schema schema;
  std::shared_ptr<const KeySet> keys;        ///< of the features
  std::shared_ptr<const KeySet> list_keys;   ///< of the feature lists
  std::vector<Feature> features;             ///< the schema's, with one per key in place of a stack or a jagged one
  std::vector<ColumnStep> steps;             ///< one per feature
  std::vector<VariableColumn> variables;     ///< in the order of the steps
  std::vector<std::size_t> dense_row_bytes;  ///< bytes per record of each dense column
  std::vector<PlannedColumn> columns;        ///< schema order
  std::vector<ColumnType> types;             ///< of the columns
  std::vector<RowColumn> row_columns;        ///< behind them: Schema::row_columns()
  std::vector<std::uint32_t> transformed;    ///< features with transforms
  std::vector<std::uint32_t> staged;         ///< steps
  std::size_t largest_direct = 0;            ///< most bytes of a record's values that are transformed row by row
  std::size_t staging_bytes = 0;             ///< of kStagedRows rows of all staged steps as they are read
  std::size_t largest_staged = 0;            ///< most bytes that kStagedRows rows of one of them become
  std::int32_t slots = 0;                    ///< notes per record
  bool has_views = false;                    ///< of the schema
  bool compares_rows = false;                ///< some features must have one shape in all rows of a batch
  bool points_into_rows = false;             ///< views, or staged strings, need a row beyond its parsing
  bool has_row_strings = false;              ///< some variable columns are of VariableColumn::is_row_strings

 private:
  void add_step(const Feature& feature, std::size_t stacked_keys = 1);
  std::uint32_t key_index(const Feature& feature, const std::string& key);
  StepTransforms* add_transforms(const Feature& feature);
  void add_dense(const Feature& feature, std::size_t stacked_keys, StepTransforms* transforms, ColumnStep* step);
  const std::uint8_t* add_fallback(const Feature& feature, const ColumnStep& step);
  void add_variable(const Feature& feature, StepTransforms* transforms, ColumnStep* step);
  void add_ragged(const Feature& feature, VariableColumn* column, ColumnStep* step);
  void add_open(const Feature& feature, const StepTransforms* transforms, ColumnStep* step);

  std::vector<std::string> key_names_;
  std::vector<std::string> list_key_names_;
  std::vector<std::unique_ptr<std::vector<std::uint8_t>>> images_;
  std::vector<std::unique_ptr<StepTransforms>> transforms_;
};

}  // namespace headrace
