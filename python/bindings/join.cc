// One column out of the slices of several replicas.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "column.h"
#include "export.h"
#include "failure.h"

namespace headrace::python {
namespace {

// TensorFlow's string header of OFFSET type: size << 2 | 2, then the distance from the header to the bytes.
struct StringHeader {
  std::uint32_t size_and_type;
  std::uint32_t offset;
  std::uint32_t count;
  std::uint32_t unused[3];
};
static_assert(sizeof(StringHeader) == 24);
constexpr std::uint32_t kOffsetType = 2;

const std::int64_t* splits_of(const Tensor& tensor) { return reinterpret_cast<const std::int64_t*>(tensor.data); }

// The shape that holds all parts: rows add up, the other dimensions are the largest.
Shape joined_shape(std::span<const Column* const> parts) {
  Shape shape = parts[0]->values.shape;
  shape[0] = 0;
  for (const Column* part : parts) {
    shape[0] += part->values.shape[0];
    for (std::size_t d = 1; d < shape.size(); ++d) shape[d] = std::max(shape[d], part->values.shape[d]);
  }
  return shape;
}

// Only the second dimension (the steps of a sequence) can differ between slices of one batch.
std::int64_t row_elements(const Shape& shape) {
  std::int64_t product = 1;
  for (std::size_t d = 1; d < shape.size(); ++d) product *= shape[d];
  return product;
}

Tensor join_numeric(std::span<const Column* const> parts, const Feature* feature) {
  Tensor joined = make_tensor(parts[0]->values.dtype, joined_shape(parts));
  const std::size_t item = size_of(joined.dtype);
  const std::size_t row_bytes = static_cast<std::size_t>(row_elements(joined.shape)) * item;
  std::uint8_t* to = joined.data;
  for (const Column* part : parts) {
    const Tensor& values = part->values;
    const std::size_t part_bytes = static_cast<std::size_t>(row_elements(values.shape)) * item;
    for (std::int64_t row = 0; row < values.shape[0]; ++row, to += row_bytes) {
      if (part_bytes > 0) std::memcpy(to, values.data + static_cast<std::size_t>(row) * part_bytes, part_bytes);
      if (feature == nullptr || feature->default_numeric.size() != item) continue;
      for (std::size_t at = part_bytes; at < row_bytes; at += item) {
        std::memcpy(to + at, feature->default_numeric.data(), item);
      }
    }
  }
  return joined;
}

Column join_bytes(std::span<const Column* const> parts, const Feature* feature) {
  const Shape shape = joined_shape(parts);
  const std::int64_t per_row = row_elements(shape);
  const std::string_view padding =
      feature != nullptr && feature->default_bytes.size() == 1 ? std::string_view(feature->default_bytes[0]) : "";
  std::vector<std::string_view> strings;
  strings.reserve(static_cast<std::size_t>(element_count(shape)));
  for (const Column* part : parts) {
    const std::int64_t part_row = row_elements(part->values.shape);
    for (std::int64_t row = 0; row < part->values.shape[0]; ++row) {
      for (std::int64_t i = 0; i < part_row; ++i) strings.push_back(part->bytes_at(row * part_row + i));
      strings.insert(strings.end(), static_cast<std::size_t>(per_row - part_row), padding);
    }
  }
  raise_if_error(check_bytes_column(strings));
  return make_bytes_column(shape, strings);
}

Tensor join_splits(std::span<const Column* const> parts, std::size_t depth) {
  std::int64_t rows = 0;
  for (const Column* part : parts) rows += part->row_splits[depth].elements() - 1;
  Tensor joined = make_tensor(DType::kInt64, {rows + 1});
  auto* to = reinterpret_cast<std::int64_t*>(joined.data);
  std::int64_t base = 0;
  *to++ = 0;
  for (const Column* part : parts) {
    const std::int64_t* from = splits_of(part->row_splits[depth]);
    const std::int64_t part_rows = part->row_splits[depth].elements() - 1;
    for (std::int64_t row = 1; row <= part_rows; ++row) *to++ = base + from[row];
    base += from[part_rows];
  }
  return joined;
}

// Indices count rows within their part: those of the parts before it are added.
void join_indices(std::span<const Column* const> parts, Column* joined) {
  joined->dense_shape = parts[0]->dense_shape;
  joined->dense_shape[0] = 0;
  const auto rank = static_cast<std::int64_t>(joined->dense_shape.size());
  joined->indices = make_tensor(DType::kInt64, {joined->values.elements(), rank});
  auto* to = reinterpret_cast<std::int64_t*>(joined->indices.data);
  for (const Column* part : parts) {
    const auto* from = reinterpret_cast<const std::int64_t*>(part->indices.data);
    for (std::int64_t value = 0; value < part->values.elements(); ++value, from += rank, to += rank) {
      std::copy(from, from + rank, to);
      *to += joined->dense_shape[0];
    }
    joined->dense_shape[0] += part->dense_shape[0];
  }
}

// Key by key, and in each the rows of all parts.
Column join_jagged(std::span<const Column* const> parts) {
  const std::size_t keys = parts[0]->keys->size();
  std::vector<std::size_t> rows;
  std::int64_t lists = 0;
  std::int64_t total = 0;
  for (const Column* part : parts) {
    rows.push_back(static_cast<std::size_t>(part->row_splits[1].elements()) / keys);
    lists += part->row_splits[1].elements();
    total += part->values.elements();
  }
  Column joined;
  joined.keys = parts[0]->keys;
  joined.row_splits = {make_tensor(DType::kInt64, {lists + 1}), make_tensor(DType::kInt64, {lists})};
  auto* offsets = reinterpret_cast<std::int64_t*>(joined.row_splits[0].data);
  auto* lengths = reinterpret_cast<std::int64_t*>(joined.row_splits[1].data);
  const bool is_bytes = parts[0]->values.dtype == DType::kBytes;
  if (!is_bytes) joined.values = make_tensor(parts[0]->values.dtype, {total});
  std::vector<std::string_view> strings;
  const std::size_t item = size_of(parts[0]->values.dtype);
  std::int64_t end = 0;
  *offsets++ = 0;
  for (std::size_t key = 0; key < keys; ++key) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::int64_t* from = splits_of(parts[p]->row_splits[0]) + key * rows[p];
      const std::int64_t first = from[0];
      const std::int64_t count = from[rows[p]] - first;
      if (is_bytes) {
        for (std::int64_t i = 0; i < count; ++i) strings.push_back(parts[p]->bytes_at(first + i));
      } else if (count > 0) {
        std::memcpy(joined.values.data + static_cast<std::size_t>(end) * item,
                    parts[p]->values.data + static_cast<std::size_t>(first) * item,
                    static_cast<std::size_t>(count) * item);
      }
      for (std::size_t row = 0; row < rows[p]; ++row) {
        *lengths = from[row + 1] - from[row];
        end += *lengths++;
        *offsets++ = end;
      }
    }
  }
  if (!is_bytes) return joined;
  Column bytes = make_bytes_column({total}, strings);
  bytes.keys = std::move(joined.keys);
  bytes.row_splits = std::move(joined.row_splits);
  return bytes;
}

}  // namespace

Status check_bytes_column(std::span<const std::string_view> values) {
  constexpr std::uint64_t kStringLimit = std::uint64_t{1} << 30;
  constexpr std::uint64_t kColumnLimit = (std::uint64_t{1} << 32) - 1;
  std::uint64_t total = values.size() * sizeof(StringHeader);
  bool is_too_long = false;
  for (const std::string_view value : values) {
    total += value.size();
    is_too_long = is_too_long || value.size() >= kStringLimit;
  }
  if (!is_too_long && total <= kColumnLimit) return {};
  return {StatusCode::kResourceExhausted, std::to_string(values.size()) + " strings of " + std::to_string(total) +
                                              " bytes do not fit a bytes column: at most 4 GiB, each below 1 GiB"};
}

Column make_bytes_column(Shape shape, std::span<const std::string_view> values) {
  std::size_t payload_bytes = 0;
  for (const std::string_view value : values) payload_bytes += value.size();
  const std::size_t header_bytes = values.size() * sizeof(StringHeader);

  Column column;
  column.byte_offsets = make_tensor(DType::kInt64, {static_cast<std::int64_t>(values.size()) + 1});
  column.values = {.dtype = DType::kBytes, .shape = std::move(shape)};
  column.values.buffer = make_buffer(header_bytes + payload_bytes);
  column.values.data = column.values.buffer->data();
  column.payload = column.values.data + header_bytes;

  auto* offsets = reinterpret_cast<std::int64_t*>(column.byte_offsets.data);
  std::size_t at = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    offsets[i] = static_cast<std::int64_t>(at);
    const std::size_t distance = header_bytes - i * sizeof(StringHeader) + at;
    const StringHeader header = {.size_and_type = static_cast<std::uint32_t>(values[i].size() << 2) | kOffsetType,
                                 .offset = static_cast<std::uint32_t>(distance),
                                 .count = 1};
    std::memcpy(column.values.data + i * sizeof(StringHeader), &header, sizeof(header));
    if (!values[i].empty()) {
      std::memcpy(column.values.data + header_bytes + at, values[i].data(), values[i].size());
    }
    at += values[i].size();
  }
  offsets[values.size()] = static_cast<std::int64_t>(at);
  return column;
}

Column join_columns(std::span<const Column* const> parts, const Feature* feature) {
  for (const Column* part : parts) require_host(part->values);
  Column joined;
  if (parts[0]->kind == ColumnKind::kJagged) {
    joined = join_jagged(parts);
    joined.name = parts[0]->name;
    joined.kind = ColumnKind::kJagged;
    return joined;
  }
  if (parts[0]->values.dtype == DType::kBytes) {
    joined = join_bytes(parts, feature);
  } else {
    joined.values = join_numeric(parts, feature);
  }
  joined.name = parts[0]->name;
  joined.kind = parts[0]->kind;
  for (std::size_t depth = 0; depth < parts[0]->row_splits.size(); ++depth) {
    joined.row_splits.push_back(join_splits(parts, depth));
  }
  if (joined.kind == ColumnKind::kSparse) join_indices(parts, &joined);
  return joined;
}

}  // namespace headrace::python
