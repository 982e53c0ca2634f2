// TransformProgram: the transforms of one feature, ready to run on its values between the wire and the column.
//
// Constant after construction; any thread. run() works in pieces that stay in the first-level cache, one call of a kernel a
// piece and transform; callers hand over as many rows at once as they have.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "example/transform_op.h"
#include "headrace/schema.h"
#include "headrace/status.h"

namespace headrace {

/// Where the pieces lie between two transforms; one for each thread.
struct TransformScratch {
  static constexpr std::int64_t kPiece = 512;  ///< values
  alignas(64) std::uint8_t pieces[2][kPiece * 8];
};

/// The first value that a transform cannot turn.
struct BadValue {
  std::int64_t index = -1;  ///< -1: there is none
  std::size_t op = 0;
};

class TransformProgram {
 public:
  TransformProgram() = default;
  /// `from_bytes`: of a value before the first op.
  TransformProgram(std::vector<ValueOp> ops, std::size_t from_bytes) : ops_(std::move(ops)), from_bytes_(from_bytes) {}

  /// Nothing to do: values are stored as they are read.
  bool empty() const { return ops_.empty(); }
  /// run() can find a bad value.
  bool fallible() const;

  /// Turns the first `count` values of whole rows (of one row, if they are less) at `from`, which may be unaligned, into
  /// the column's at `to`. What is written from a bad value on is arbitrary.
  BadValue run(const std::uint8_t* from, std::uint8_t* to, std::int64_t count, TransformScratch& scratch) const;
  /// The same without a result: is there a bad value?
  BadValue check(const std::uint8_t* from, std::int64_t count, TransformScratch& scratch) const;
  /// The failure for the value at place `index` of its record.
  Status failure(const Feature& feature, std::size_t op, std::int64_t index) const;

 private:
  // The first `ops` of them; null `to` drops the result.
  BadValue run_pieces(std::size_t ops, const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                      TransformScratch& scratch) const;

  std::vector<ValueOp> ops_;
  std::size_t from_bytes_ = 0;
  friend class TransformCompiler;
};

/// All that the parser needs to know of a feature's transforms.
struct TransformList {
  ColumnType type;
  TransformProgram program;
  std::size_t wire_bytes = 0;   ///< of a value before the program; that of a string_view for strings
  std::size_t value_bytes = 0;  ///< of what one value becomes in a numeric column
  /// What stands behind the values of a short row (kFixedLenSequence, or padded): numeric columns repeat this image of some
  /// values along the row, bytes columns the string.
  std::vector<std::uint8_t> padding;
  std::string padding_string;
};

/// kInvalidArgument naming feature and transform; also when the default or the padding cannot be turned.
Result<TransformList> compile_transforms(const Feature& feature);

/// The default of a feature as `count` values before the program.
std::vector<std::uint8_t> default_values(const Feature& feature, std::int64_t count);

}  // namespace headrace
