// decode_raw(): byte strings of the caller that are the elements themselves.
#include <algorithm>
#include <cstring>
#include <string>

#include "headrace/example.h"
#include "tensor/byte_order.h"
#include "tensor/copy.h"
#include "tensor/on_threads.h"
#include "tensor/slice_layout.h"

namespace headrace {
namespace {

constexpr std::size_t kRowsPerTask = 64;

Status mismatch(std::size_t row, std::string message, std::size_t expected, std::size_t found) {
  Where where;
  where.row = static_cast<std::int64_t>(row);
  where.expected = std::to_string(expected) + " bytes";
  where.found = std::to_string(found) + " bytes";
  return schema_mismatch(std::move(message), std::move(where));
}

// Bytes of each row: fixed_length, or what all strings have.
Result<std::size_t> row_bytes(std::span<const std::string_view> bytes, const DecodeRawOptions& options) {
  const std::size_t item = size_of(options.dtype);
  const std::string name(to_string(options.dtype));
  if (options.fixed_length) {
    const std::int64_t length = *options.fixed_length;
    if (length <= 0)
      return invalid_argument("fixed_length (" + std::to_string(length) + ") must be greater than zero.");
    if (length % static_cast<std::int64_t>(item) == 0) return static_cast<std::size_t>(length);
    return invalid_argument("fixed_length (" + std::to_string(length) +
                            ") must be a multiple of the size of out_type (" + std::to_string(item) + ")");
  }
  if (bytes.empty()) return std::size_t{0};
  const std::size_t size = bytes[0].size();
  if (size % item != 0) {
    return mismatch(0,
                    "Input to DecodeRaw has length " + std::to_string(size) + " that is not a multiple of " +
                        std::to_string(item) + ", the size of " + name,
                    size / item * item, size);
  }
  for (std::size_t row = 1; row < bytes.size(); ++row) {
    if (bytes[row].size() == size) continue;
    return mismatch(row,
                    "DecodeRaw requires input strings to all be the same size, but element " + std::to_string(row) +
                        " has size " + std::to_string(bytes[row].size()) + " != " + std::to_string(size),
                    size, bytes[row].size());
  }
  return size;
}

void write_row(const DecodeRawOptions& options, std::string_view from, std::uint8_t* to, std::size_t size) {
  const std::size_t given = std::min(from.size(), size);
  copy_plain(to, reinterpret_cast<const std::uint8_t*>(from.data()), given);
  if (given < size) std::memset(to + given, 0, size - given);
  if (options.dtype == DType::kBool) {
    std::transform(to, to + size, to, [](std::uint8_t byte) { return byte != 0 ? 1 : 0; });
  } else if (!options.little_endian) {
    copy_swapped(options.dtype, to, to, size);
  }
}

}  // namespace

Result<Column> decode_raw(std::span<const std::string_view> bytes, const DecodeRawOptions& options, int num_threads) {
  HEADRACE_RETURN_IF_ERROR(check_num_threads(num_threads));
  if (options.dtype == DType::kBytes) return invalid_argument("out_type: bytes are no numbers");
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t size, row_bytes(bytes, options));
  Column column;
  Tensor& values = column.values;
  values.dtype = options.dtype;
  values.shape = {static_cast<std::int64_t>(bytes.size()), static_cast<std::int64_t>(size / size_of(options.dtype))};
  std::size_t all = 0;
  if (__builtin_mul_overflow(bytes.size(), size, &all)) {
    return Status(StatusCode::kResourceExhausted, std::to_string(bytes.size()) + " rows of " + std::to_string(size) +
                                                      " bytes are more than memory has");
  }
  BufferPool pool;
  const std::size_t part_bytes[] = {all};
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<PlacedPart> parts, allocate_parts(part_bytes, pool));
  values.data = parts[0].data;
  values.buffer = parts[0].buffer;
  const auto tasks = static_cast<int>((bytes.size() + kRowsPerTask - 1) / kRowsPerTask);
  run_on_threads(tasks, num_threads, [&](int task) {
    const std::size_t first = static_cast<std::size_t>(task) * kRowsPerTask;
    for (std::size_t row = first; row < std::min(first + kRowsPerTask, bytes.size()); ++row) {
      write_row(options, bytes[row], values.data + row * size, size);
    }
  });
  return column;
}

}  // namespace headrace
