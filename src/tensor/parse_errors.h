// The failures of the parser, in TensorFlow's words where users search for them (SEMANTICS.md sections 4, 6, 8 and 9).
//
// All give kSchemaMismatch with key, expected and found in the where; the caller adds the row. Texts never hold values of
// the record; keys in them are made printable by Status.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "example/feature_view.h"
#include "headrace/schema.h"
#include "headrace/status.h"

namespace headrace {

/// "[]", "[2,3]", "[?,2]" (-1).
std::string shape_text(const Shape& shape);
/// A key as texts show it: printable and bounded.
std::string shown_key(const std::string& key);

/// "float32 [2,3]".
std::string tensor_text(DType dtype, const Shape& shape);
/// The where of a failure in the value of `feature`.
Where at_feature(const Feature& feature, std::string expected, std::string found);

/// Absent, or present without a kind. Lists the nearest keys of `record`.
Status missing_feature(const Feature& feature, std::span<const std::uint8_t> record, bool saw_feature_lists);
/// A feature list that must be there. Lists the nearest keys of the record's feature lists.
Status missing_feature_list(const Feature& feature, std::span<const std::uint8_t> record);
/// A step of `found` values where the shape asks for another number.
Status wrong_step_count(const Feature& feature, std::int64_t step, std::int64_t found);
/// The partition `key` of a feature list has another number of steps than its values.
Status unequal_steps(const Feature& feature, const std::string& key);
/// `failure` of one step of a feature list.
Status at_step(const Feature& feature, std::int64_t step, const Status& failure);
/// The list is of another kind than the feature.
Status wrong_kind(const Feature& feature, ListKind found);
/// `key`, of a partition or of indices, holds another list than int64.
Status wrong_integers_kind(const Feature& feature, const std::string& key, ListKind found);
/// The list cannot be read.
Status malformed_list(const std::string& key);
/// A list of `found` values where the shape asks for another number.
Status wrong_count(const Feature& feature, std::int64_t found);
/// More values, or steps, than the `most` that the rows are padded to.
Status too_many(const Feature& feature, std::int64_t most, std::int64_t found);
/// `found` values are no whole number of steps.
Status no_multiple(const Feature& feature, std::int64_t stride, std::int64_t found);
/// A string too long for a string header.
Status string_too_long(const std::string& key, std::uint64_t bytes);

}  // namespace headrace
