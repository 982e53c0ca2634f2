#include "tensor/parse_errors.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "example/example_reader.h"
#include "example/sequence_reader.h"

namespace headrace {
namespace {

constexpr std::size_t kKeysLookedAt = 256;
constexpr std::size_t kKeysShown = 5;
constexpr std::size_t kKeyBytes = 60;

// TensorFlow's words for the three lists.
std::string_view word(ListKind kind) {
  switch (kind) {
    case ListKind::kInt64:
      return "int64";
    case ListKind::kFloat:
      return "float";
    case ListKind::kBytes:
      return "string";
    case ListKind::kAbsent:
      break;
  }
  return "nothing";
}

ListKind asked_kind(const Feature& feature) {
  if (feature.kind == FeatureKind::kTensor || feature.kind == FeatureKind::kRaw) return ListKind::kBytes;
  if (feature.kind == FeatureKind::kImage) return ListKind::kBytes;
  if (feature.dtype == DType::kInt64) return ListKind::kInt64;
  return feature.dtype == DType::kFloat32 ? ListKind::kFloat : ListKind::kBytes;
}

Where at_key(const std::string& key, std::string expected, std::string found) {
  Where where;
  where.key = key;
  where.expected = std::move(expected);
  where.found = std::move(found);
  return where;
}

// Levenshtein distance of the first kKeyBytes bytes; small numbers, called for a failing record only.
std::size_t distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kKeyBytes);
  b = b.substr(0, kKeyBytes);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest_keys(const std::string& key, std::vector<std::string> keys, std::string_view what) {
  if (keys.empty()) return " The record has no " + std::string(what) + ".";
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& other : keys) {
    const std::size_t rank = distance(key, other);
    ranked.emplace_back(rank, std::move(other));
  }
  std::sort(ranked.begin(), ranked.end());
  std::string text = ranked.size() > kKeysShown ? " Nearest keys of the record:" : " The record has the keys:";
  for (std::size_t i = 0; i < std::min(ranked.size(), kKeysShown); ++i) {
    text += (i == 0 ? " '" : ", '") + printable_utf8(ranked[i].second, kKeyBytes) + "'";
  }
  return text + ".";
}

}  // namespace

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ",") + (shape[i] < 0 ? "?" : std::to_string(shape[i]));
  }
  return text + "]";
}

std::string shown_key(const std::string& key) { return printable_utf8(key, kKeyBytes); }

std::string tensor_text(DType dtype, const Shape& shape) {
  return std::string(to_string(dtype)) + " " + shape_text(shape);
}

Where at_feature(const Feature& feature, std::string expected, std::string found) {
  return at_key(feature.wire_key(), std::move(expected), std::move(found));
}

Status missing_feature(const Feature& feature, std::span<const std::uint8_t> record, bool saw_feature_lists) {
  const std::string& key = feature.wire_key();
  const std::string type(word(asked_kind(feature)));
  std::string text = "Feature: " + printable_utf8(key, kKeyBytes * 2) + " (data type: " + type +
                     ") is required but could not be found." +
                     nearest_keys(key, ExampleReader::list_keys(record, kKeysLookedAt), "features");
  if (saw_feature_lists) {
    text += " The record is a SequenceExample: only its context is read, its feature_lists are not.";
  }
  return schema_mismatch(std::move(text), at_key(key, type, "no such key"));
}

Status missing_feature_list(const Feature& feature, std::span<const std::uint8_t> record) {
  const std::string& key = feature.wire_key();
  return schema_mismatch(
      "Feature list '" + shown_key(key) +
          "' is required but could not be found; allow_missing=True takes it as a list of no steps." +
          nearest_keys(key, SequenceReader::list_keys(record, kKeysLookedAt), "feature lists"),
      at_key(key, "a feature list", "no such key"));
}

Status wrong_step_count(const Feature& feature, std::int64_t step, std::int64_t found) {
  return schema_mismatch("Key: " + shown_key(feature.wire_key()) + ", Index: " + std::to_string(step) +
                             ".  Number of values != expected. values size: " + std::to_string(found) +
                             " but output shape: " + shape_text(feature.shape),
                         at_key(feature.wire_key(), std::to_string(element_count(feature.shape)) + " values",
                                std::to_string(found) + " values"));
}

Status unequal_steps(const Feature& feature, const std::string& key) {
  const std::string values = shown_key(feature.wire_key());
  return schema_mismatch("Feature " + values + ": values and partitions are not aligned: the feature list '" +
                             shown_key(key) + "' has another number of steps",
                         at_key(key, "as many steps as '" + values + "' has", "another number of steps"));
}

Status at_step(const Feature& feature, std::int64_t step, const Status& failure) {
  return Status(
      failure.code(),
      "Feature list: " + shown_key(feature.wire_key()) + ", Index: " + std::to_string(step) + ".  " + failure.message(),
      failure.where());
}

Status wrong_kind(const Feature& feature, ListKind found) {
  const std::string expected(word(asked_kind(feature)));
  const std::string actual(word(found));
  const bool dense = feature.kind != FeatureKind::kVarLen && feature.kind != FeatureKind::kRagged &&
                     feature.kind != FeatureKind::kSparse;
  return schema_mismatch(dense ? "Data types don't match. Data type: " + actual + " but expected type: " + expected
                               : "Data types don't match. Expected type: " + expected + ", Actual type: " + actual,
                         at_key(feature.wire_key(), expected, actual));
}

Status wrong_integers_kind(const Feature& feature, const std::string& key, ListKind found) {
  const std::string actual(word(found));
  const std::string part = feature.kind == FeatureKind::kSparse ? "the indices" : "a partition";
  return schema_mismatch("Data types don't match. Expected type: int64, Actual type: " + actual + " in " + part +
                             " of feature '" + shown_key(feature.wire_key()) + "'",
                         at_key(key, "int64", actual));
}

Status malformed_list(const std::string& key) {
  return schema_mismatch("Can't parse serialized Example.", at_key(key, "a well-formed list", "a malformed list"));
}

Status wrong_count(const Feature& feature, std::int64_t found) {
  const ListKind kind = asked_kind(feature);
  const bool single =
      feature.kind == FeatureKind::kTensor || feature.kind == FeatureKind::kRaw || feature.kind == FeatureKind::kImage;
  const Shape shape = single ? Shape{} : feature.shape;
  const std::string list(kind == ListKind::kBytes ? "bytes" : word(kind));
  return schema_mismatch(
      "Number of " + list + " values != expected. Values size: " + std::to_string(found) +
          " but output shape: " + shape_text(shape),
      at_key(feature.wire_key(), std::to_string(element_count(shape)) + " values", std::to_string(found) + " values"));
}

Status too_many(const Feature& feature, std::int64_t most, std::int64_t found) {
  const std::string what = feature.shape.empty() ? " values" : " steps";
  return schema_mismatch(
      "Attempted to pad to a smaller size than the input element: " + std::to_string(found) + what +
          " where rows have " + std::to_string(most),
      at_key(feature.wire_key(), "at most " + std::to_string(most) + what, std::to_string(found) + what));
}

Status no_multiple(const Feature& feature, std::int64_t stride, std::int64_t found) {
  const ListKind kind = asked_kind(feature);
  const std::string list(kind == ListKind::kBytes ? "bytes" : word(kind));
  const Where where = at_key(feature.wire_key(), "a multiple of " + std::to_string(stride) + " values",
                             std::to_string(found) + " values");
  if (feature.kind == FeatureKind::kRagged) {
    return schema_mismatch("Number of " + list + " values does not divide into rows of the uniform length. Saw " +
                               std::to_string(found) + " values, which is not a multiple of " + std::to_string(stride),
                           where);
  }
  Shape shape = feature.shape;
  shape.insert(shape.begin(), -1);
  return schema_mismatch("Number of " + list + " values is not a multiple of stride length. Saw " +
                             std::to_string(found) + " values but output shape is: " + shape_text(shape),
                         where);
}

Status string_too_long(const std::string& key, std::uint64_t bytes) {
  Where where = at_key(key, "strings below 1 GiB", std::to_string(bytes) + " bytes");
  return Status(
      StatusCode::kResourceExhausted,
      "a string of " + std::to_string(bytes) + " bytes does not fit a bytes column, whose strings are below 1 GiB",
      std::move(where));
}

}  // namespace headrace
