// For the tests of this folder: records written by hand, a parser run over them, columns as plain vectors.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"
#include "example/example_reader.h"
#include "tensor/batch_parser.h"

namespace headrace::testing {

inline std::string varint(std::uint64_t value) {
  std::uint8_t bytes[10];
  return {reinterpret_cast<char*>(bytes), static_cast<std::size_t>(write_varint(bytes, value) - bytes)};
}
/// A length-delimited protobuf field.
inline std::string field(int number, std::string_view content) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(content.size()) + std::string(content);
}
template <class T>
std::string bits(T value) {
  std::string text(sizeof value, '\0');
  std::memcpy(text.data(), &value, sizeof value);
  return text;
}

/// An Example of one feature, `list` being the content of list message `kind`. Examples are joined by +.
inline std::string feature(std::string_view key, ListKind kind, std::string_view list) {
  return field(1, field(1, field(1, key) + field(2, field(static_cast<int>(kind), list))));
}
inline std::string int_list(std::initializer_list<std::int64_t> values) {
  std::string packed;
  for (const std::int64_t value : values) packed += varint(static_cast<std::uint64_t>(value));
  return field(1, packed);
}
inline std::string float_list(std::initializer_list<float> values) {
  std::string packed;
  for (const float value : values) packed += bits(value);
  return field(1, packed);
}
inline std::string bytes_list(std::initializer_list<std::string_view> values) {
  std::string list;
  for (const std::string_view value : values) list += field(1, value);
  return list;
}
inline std::string ints(std::string_view key, std::initializer_list<std::int64_t> values) {
  return feature(key, ListKind::kInt64, int_list(values));
}
inline std::string floats(std::string_view key, std::initializer_list<float> values) {
  return feature(key, ListKind::kFloat, float_list(values));
}
inline std::string strings(std::string_view key, std::initializer_list<std::string_view> values) {
  return feature(key, ListKind::kBytes, bytes_list(values));
}
/// A present key whose Feature has no kind.
inline std::string without_kind(std::string_view key) { return field(1, field(1, field(1, key) + field(2, ""))); }

/// Steps of a feature list; joined by +.
inline std::string step(ListKind kind, std::string_view list) { return field(1, field(static_cast<int>(kind), list)); }
inline std::string int_step(std::initializer_list<std::int64_t> values) {
  return step(ListKind::kInt64, int_list(values));
}
inline std::string float_step(std::initializer_list<float> values) {
  return step(ListKind::kFloat, float_list(values));
}
inline std::string bytes_step(std::initializer_list<std::string_view> values) {
  return step(ListKind::kBytes, bytes_list(values));
}
/// One feature list; several joined by + are the content of feature_lists().
inline std::string list_entry(std::string_view key, std::string_view steps) {
  return field(1, field(1, key) + field(2, steps));
}
/// The feature lists of a SequenceExample. What makes an Example makes its context; it comes first.
inline std::string feature_lists(std::string_view entries) { return field(2, entries); }

inline Feature fixed(std::string name, DType dtype, Shape shape = {}) {
  return {.name = std::move(name), .kind = FeatureKind::kFixedLen, .dtype = dtype, .shape = std::move(shape)};
}
inline Feature list_of(FeatureKind kind, std::string name, DType dtype, Shape shape = {}) {
  return {.name = std::move(name), .kind = kind, .dtype = dtype, .shape = std::move(shape)};
}
inline Feature transformed(Feature feature, std::vector<Transform> transforms) {
  feature.transforms = std::move(transforms);
  return feature;
}
inline Feature in_list(Feature feature) {
  feature.feature_list = true;
  return feature;
}
template <class T>
Feature with_default(Feature feature, std::initializer_list<T> values) {
  feature.has_default = true;
  for (const T value : values) {
    const std::string image = bits(value);
    feature.default_numeric.insert(feature.default_numeric.end(), image.begin(), image.end());
  }
  return feature;
}

/// Runs `parser` over the records, each in memory of its own with exactly the padding behind it.
inline Result<std::vector<Slice>> run_parser(BatchParser& parser, const std::vector<std::string>& records,
                                             std::vector<std::int64_t> replica_rows, std::int64_t rows_per_task = 64,
                                             std::vector<RowOrigin> origins = {}) {
  std::vector<std::unique_ptr<std::uint8_t[]>> memory;
  ParseInput input{.rows = {}, .replica_rows = std::move(replica_rows), .origins = std::move(origins)};
  for (const std::string& record : records) {
    memory.push_back(std::make_unique<std::uint8_t[]>(record.size() + kRecordPadding));
    std::memcpy(memory.back().get(), record.data(), record.size());
    input.rows.emplace_back(memory.back().get(), record.size());
  }
  const std::unique_ptr<ParseJob> job = parser.begin(std::move(input), rows_per_task);
  do {
    // Backwards: the result must not depend on the order of the tasks.
    for (int task = job->tasks(); task-- > 0;) job->run(task);
  } while (job->finish_phase());
  return job->take();
}
inline Result<std::vector<Slice>> parse(const Schema& schema, const std::vector<std::string>& records,
                                        std::vector<std::int64_t> replica_rows, std::int64_t rows_per_task = 64,
                                        std::vector<RowOrigin> origins = {}) {
  const std::unique_ptr<BatchParser> parser = make_example_parser(schema, std::make_shared<BufferPool>());
  return run_parser(*parser, records, std::move(replica_rows), rows_per_task, std::move(origins));
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  std::vector<T> values(static_cast<std::size_t>(tensor.elements()));
  if (!values.empty()) std::memcpy(values.data(), tensor.data, values.size() * sizeof(T));
  return values;
}
inline std::vector<std::int64_t> splits_of(const Column& column, std::size_t dimension = 0) {
  return values_of<std::int64_t>(column.row_splits.at(dimension));
}
/// The strings as TensorFlow finds them, through the headers.
inline std::vector<std::string> strings_of(const Column& column) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < column.values.elements(); ++i) {
    const std::uint8_t* header = column.values.data + i * 24;
    if ((load_u32(header) & 3U) != 2U) return {"not an offset string"};
    texts.emplace_back(reinterpret_cast<const char*>(header) + load_u32(header + 4), load_u32(header) >> 2);
    if (column.bytes_at(i) != texts.back()) return {"offsets and headers differ"};
  }
  return texts;
}

}  // namespace headrace::testing
