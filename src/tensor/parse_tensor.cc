// parse_tensor(): serialized TensorProtos of the caller as one array.
//
// All of them are read before anything is allocated: a message of a few bytes can claim a gigabyte.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "example/tensor_proto.h"
#include "headrace/example.h"
#include "tensor/bytes_column.h"
#include "tensor/on_threads.h"
#include "tensor/parse_errors.h"
#include "tensor/slice_layout.h"

namespace headrace {
namespace {

constexpr std::size_t kRowsPerTask = 16;
/// Bytes that the messages of one call may claim beyond what they hold (one value that fills a shape).
constexpr std::uint64_t kMaxClaimedBytes = std::uint64_t{1} << 30;

std::span<const std::uint8_t> bytes_of(std::string_view proto) {
  return {reinterpret_cast<const std::uint8_t*>(proto.data()), proto.size()};
}

Status at_row(const Status& failure, std::size_t row) {
  Where where;
  where.row = static_cast<std::int64_t>(row);
  return failure.with(where);
}

Shape shape_of(const TensorProtoView& view) {
  Shape shape;
  for (int d = 0; d < view.rank; ++d) shape.push_back(view.dim(d));
  return shape;
}

Status check(const TensorProtoView& view, DType dtype, const TensorProtoView& first) {
  Where where;
  if (view.dtype != dtype) {
    where.expected = std::string(to_string(dtype));
    where.found = std::string(to_string(view.dtype));
    return schema_mismatch(
        "Type mismatch between parsed tensor (" + where.found + ") and dtype (" + where.expected + ")", where);
  }
  const Shape wanted = shape_of(first);
  const Shape found = shape_of(view);
  if (wanted == found) return {};
  where.expected = shape_text(wanted);
  where.found = shape_text(found);
  return schema_mismatch("Cannot batch tensors with different shapes: the first has shape " + where.expected +
                             ", this one has shape " + where.found,
                         where);
}

class TensorBatch {
 public:
  Status read(std::span<const std::string_view> serialized, DType dtype) {
    views_.resize(serialized.size());
    std::uint64_t message_bytes = 0;
    for (std::size_t row = 0; row < serialized.size(); ++row) {
      TensorProtoView& view = views_[row];
      Status status = read_tensor_proto(bytes_of(serialized[row]), &view);
      if (status.ok()) status = check(view, dtype, views_.front());
      if (!status.ok()) return at_row(status, row);
      message_bytes += serialized[row].size();
    }
    column_.values.dtype = dtype;
    column_.values.shape = {static_cast<std::int64_t>(views_.size())};
    if (views_.empty()) return {};
    const Shape inner = shape_of(views_.front());
    column_.values.shape.insert(column_.values.shape.end(), inner.begin(), inner.end());
    return check_claims(message_bytes);
  }

  Status decode_numbers(BufferPool& pool, int num_threads) {
    Tensor& values = column_.values;
    const std::size_t part_bytes[] = {values.bytes()};
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<PlacedPart> parts, allocate_parts(part_bytes, pool));
    values.data = parts[0].data;
    values.buffer = parts[0].buffer;
    const std::size_t row_bytes = views_.empty() ? 0 : values.bytes() / views_.size();
    const auto tasks = static_cast<int>((views_.size() + kRowsPerTask - 1) / kRowsPerTask);
    std::vector<Status> failures(static_cast<std::size_t>(tasks));
    run_on_threads(tasks, num_threads, [&](int task) {
      const std::size_t first = static_cast<std::size_t>(task) * kRowsPerTask;
      for (std::size_t row = first; row < std::min(first + kRowsPerTask, views_.size()); ++row) {
        const Status decoded = decode_tensor_proto(views_[row], values.data + row * row_bytes);
        if (decoded.ok()) continue;
        failures[static_cast<std::size_t>(task)] = at_row(decoded, row);
        return;
      }
    });
    for (const Status& failure : failures) HEADRACE_RETURN_IF_ERROR(failure);
    return {};
  }

  Status decode_strings(BufferPool& pool) {
    std::vector<std::string_view> strings;
    std::vector<std::string_view> row_strings;
    std::int64_t payload = 0;
    for (std::size_t row = 0; row < views_.size(); ++row) {
      const Status decoded = decode_string_tensor(views_[row], &row_strings);
      if (!decoded.ok()) return at_row(decoded, row);
      for (const std::string_view text : row_strings) {
        if (text.size() >= kStringLimit) return at_row(string_too_long("", text.size()), row);
        payload += static_cast<std::int64_t>(text.size());
      }
      strings.insert(strings.end(), row_strings.begin(), row_strings.end());
      const std::int64_t repeated = views_[row].elements - static_cast<std::int64_t>(row_strings.size());
      if (repeated <= 0) continue;
      // The last one stands for the rest.
      payload += repeated * static_cast<std::int64_t>(row_strings.back().size());
      const auto so_far = static_cast<std::int64_t>(strings.size()) + repeated;
      HEADRACE_RETURN_IF_ERROR(bytes_column_size("", so_far, payload).status());
      strings.insert(strings.end(), static_cast<std::size_t>(repeated), row_strings.back());
    }
    const auto elements = static_cast<std::int64_t>(strings.size());
    HEADRACE_ASSIGN_OR_RETURN(const std::size_t bytes, bytes_column_size("", elements, payload));
    const std::size_t part_bytes[] = {bytes, (strings.size() + 1) * sizeof(std::int64_t)};
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<PlacedPart> parts, allocate_parts(part_bytes, pool));
    const BytesColumnMemory memory{parts[0].data, parts[1].data, elements};
    store_u64(memory.offsets, 0);
    BytesAppender appender(memory, 0, 0, CopyMode());
    for (const std::string_view text : strings) appender.append(text);
    column_.values.data = parts[0].data;
    column_.values.buffer = parts[0].buffer;
    column_.byte_offsets = Tensor{DType::kInt64, {elements + 1}, parts[1].data, parts[1].buffer};
    column_.payload = memory.payload();
    return {};
  }

  Column take() { return std::move(column_); }

 private:
  // A string is claimed with its header.
  Status check_claims(std::uint64_t message_bytes) const {
    // In the order of the dimensions, as element_count multiplies them.
    std::int64_t claimed = 1;
    bool is_too_large = false;
    for (const std::int64_t size : column_.values.shape) {
      is_too_large = is_too_large || __builtin_mul_overflow(claimed, size, &claimed);
    }
    const auto item = static_cast<std::int64_t>(size_of(column_.values.dtype));
    is_too_large = is_too_large || __builtin_mul_overflow(claimed, item, &claimed);
    const std::uint64_t header_bytes =
        column_.values.dtype == DType::kBytes ? message_bytes * kStringHeaderBytes : message_bytes;
    if (!is_too_large && static_cast<std::uint64_t>(claimed) <= header_bytes + kMaxClaimedBytes) return {};
    Where where;
    where.expected = "at most 1 GiB beyond the bytes of the messages";
    where.found = std::to_string(views_.size()) + " tensors of shape " + shape_text(shape_of(views_.front())) + " in " +
                  std::to_string(message_bytes) + " bytes";
    return Status(StatusCode::kResourceExhausted, "the messages claim more elements than they hold: " + where.found,
                  where);
  }

  std::vector<TensorProtoView> views_;
  Column column_;
};

}  // namespace

Result<Column> parse_tensor(std::span<const std::string_view> serialized, DType dtype, int num_threads) {
  HEADRACE_RETURN_IF_ERROR(check_num_threads(num_threads));
  BufferPool pool;
  TensorBatch batch;
  HEADRACE_RETURN_IF_ERROR(batch.read(serialized, dtype));
  HEADRACE_RETURN_IF_ERROR(dtype == DType::kBytes ? batch.decode_strings(pool)
                                                  : batch.decode_numbers(pool, num_threads));
  return batch.take();
}

}  // namespace headrace
