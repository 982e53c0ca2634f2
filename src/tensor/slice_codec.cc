#include "tensor/slice_codec.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/varints.h"
#include "base/wire.h"
#include "tensor/bytes_column.h"
#include "tensor/slice_layout.h"

namespace headrace {
namespace {

using Bytes = std::vector<std::uint8_t>;

Status not_slices(const char* why) { return {StatusCode::kDataLoss, std::string("not a cached batch: ") + why}; }

std::int64_t payload_bytes(const Column& column) {
  const std::int64_t strings = column.values.elements();
  return static_cast<std::int64_t>(load_u64(column.byte_offsets.data + strings * 8));
}

// Bytes from the start of its values that a column takes in their buffer.
std::size_t values_bytes(const Column& column) {
  const std::size_t payload = column.payload == nullptr ? 0 : static_cast<std::size_t>(payload_bytes(column));
  return column.values.bytes() + payload;
}

template <class Tensors>
void each_tensor(const Column& column, const Tensors& tensors) {
  for (const Tensor& splits : column.row_splits) tensors(splits, splits.bytes());
  if (column.kind == ColumnKind::kSparse) tensors(column.indices, column.indices.bytes());
  if (column.values.dtype == DType::kBytes) tensors(column.byte_offsets, column.byte_offsets.bytes());
}

class Encoder {
 public:
  Bytes encode(std::span<const Slice> slices) {
    put(slices.size());
    for (const Slice& slice : slices) add(slice);
    return std::move(out_);
  }

 private:
  struct Used {
    const Buffer* buffer;
    std::size_t bytes;  // up to the end of what lies last
  };

  void add(const Slice& slice) {
    used_.clear();
    for (const Column& column : slice.columns) {
      use(column.values, values_bytes(column));
      each_tensor(column, [this](const Tensor& tensor, std::size_t bytes) { use(tensor, bytes); });
    }
    put(static_cast<std::uint64_t>(slice.rows));
    put(used_.size());
    for (const Used& used : used_) put(used.bytes);
    put(slice.columns.size());
    for (const Column& column : slice.columns) add(column);
    for (const Used& used : used_) out_.insert(out_.end(), used.buffer->data(), used.buffer->data() + used.bytes);
  }

  void add(const Column& column) {
    put(column.name);
    put(static_cast<std::uint64_t>(column.kind));
    add(column.values);
    put(column.row_splits.size());
    each_tensor(column, [this](const Tensor& tensor, std::size_t) { add(tensor); });
    add(column.dense_shape);
    put(column.keys == nullptr ? 0 : column.keys->size());
    if (column.keys != nullptr) {
      for (const std::string& key : *column.keys) put(key);
    }
  }

  void add(const Tensor& tensor) {
    put(static_cast<std::uint64_t>(tensor.dtype));
    add(tensor.shape);
    const std::size_t place = tensor.data == nullptr ? used_.size() : place_of(tensor.buffer.get());
    put(place);
    if (place < used_.size()) put(static_cast<std::uint64_t>(tensor.data - tensor.buffer->data()));
  }

  void add(const Shape& shape) {
    put(shape.size());
    for (const std::int64_t size : shape) put(static_cast<std::uint64_t>(size));
  }

  void use(const Tensor& tensor, std::size_t bytes) {
    if (tensor.data == nullptr) return;
    const std::size_t place = place_of(tensor.buffer.get());
    if (place == used_.size()) used_.push_back({tensor.buffer.get(), 0});
    const std::size_t end = static_cast<std::size_t>(tensor.data - tensor.buffer->data()) + bytes;
    used_[place].bytes = std::max(used_[place].bytes, end);
  }

  std::size_t place_of(const Buffer* buffer) const {
    const auto found = std::find_if(used_.begin(), used_.end(), [buffer](const Used& u) { return u.buffer == buffer; });
    return static_cast<std::size_t>(found - used_.begin());
  }

  void put(std::uint64_t value) { put_varint(value, &out_); }
  void put(const std::string& text) {
    put(text.size());
    out_.insert(out_.end(), text.begin(), text.end());
  }

  Bytes out_;
  std::vector<Used> used_;
};

// Int64 [n] from 0, not descending, up to `last`; `n` < 0: any number from 1 on.
bool are_splits(const Tensor& splits, std::int64_t n, std::int64_t last) {
  if (splits.dtype != DType::kInt64 || splits.shape.size() != 1 || splits.data == nullptr) return false;
  if (n >= 0 ? splits.shape[0] != n : splits.shape[0] < 1) return false;
  std::uint64_t before = 0;
  for (std::int64_t i = 0; i < splits.shape[0]; ++i) {
    const std::uint64_t end = load_u64(splits.data + i * 8);
    if (end < before || (i == 0 && end != 0)) return false;
    before = end;
  }
  return before == static_cast<std::uint64_t>(last);
}

// Whether the parts of a column fit each other, so that whoever takes rows of it stays inside.
bool fits(const Column& column, std::int64_t rows) {
  if (column.values.shape.empty()) return false;
  const std::int64_t values = column.values.shape[0];
  const std::vector<Tensor>& splits = column.row_splits;
  switch (column.kind) {
    case ColumnKind::kDense:
      return splits.empty() && values == rows;
    case ColumnKind::kRagged: {
      std::int64_t above = rows;
      for (std::size_t d = 0; d < splits.size(); ++d) {
        const bool is_last = d + 1 == splits.size();
        if (!is_last && splits[d + 1].shape.empty()) return false;
        const std::int64_t below = is_last ? values : splits[d + 1].shape[0] - 1;
        if (!are_splits(splits[d], above + 1, below)) return false;
        above = below;
      }
      return !splits.empty();
    }
    case ColumnKind::kSparse: {
      const Tensor& indices = column.indices;
      const auto rank = static_cast<std::int64_t>(column.dense_shape.size());
      return splits.empty() && indices.dtype == DType::kInt64 && indices.shape == Shape{values, rank} && rank > 0 &&
             column.dense_shape[0] == rows;
    }
    case ColumnKind::kJagged: {
      if (splits.size() != 2 || column.keys == nullptr) return false;
      const std::int64_t lists = rows * static_cast<std::int64_t>(column.keys->size());
      return are_splits(splits[0], lists + 1, values) && splits[1].dtype == DType::kInt64 &&
             splits[1].shape == Shape{lists};
    }
  }
  return false;
}

class Decoder {
 public:
  Decoder(std::span<const std::uint8_t> bytes, BufferPool& pool) : in_(bytes), pool_(pool) {}

  Result<std::vector<Slice>> decode() {
    std::vector<Slice> slices(in_.count());
    for (Slice& slice : slices) HEADRACE_RETURN_IF_ERROR(read(&slice));
    if (!in_.ok() || in_.left() > 0) return not_slices("wrong length");
    return slices;
  }

 private:
  Status read(Slice* slice) {
    slice->rows = static_cast<std::int64_t>(in_.get());
    check(slice->rows >= 0 && slice->rows <= INT64_MAX >> 32);
    std::vector<std::size_t> sizes(in_.count());
    for (std::size_t& size : sizes) size = static_cast<std::size_t>(in_.get());
    buffers_.clear();
    std::size_t all = 0;
    for (const std::size_t size : sizes) {
      if (!in_.ok() || size > in_.left() - all) return not_slices("wrong size of a buffer");
      all += size;
      HEADRACE_ASSIGN_OR_RETURN(BufferPtr buffer, allocate_buffer(size, pool_));
      buffers_.push_back(std::move(buffer));
    }
    used_ = sizes;
    slice->columns.resize(in_.count());
    for (Column& column : slice->columns) read(&column);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::span<const std::uint8_t> content = in_.take(sizes[i]);
      if (!in_.ok()) return not_slices("it ends too early");
      std::copy(content.begin(), content.end(), buffers_[i]->data());
    }
    for (Column& column : slice->columns) {
      if (!in_.ok() || !fits(column, slice->rows)) return not_slices("wrong column");
      if (column.values.dtype == DType::kBytes && !read_strings(&column)) return not_slices("wrong strings");
    }
    return in_.ok() ? Status() : not_slices("wrong column");
  }

  void read(Column* column) {
    column->name = text();
    const std::uint64_t kind = in_.get();
    check(kind >= 1 && kind <= static_cast<std::uint64_t>(ColumnKind::kJagged));
    column->kind = static_cast<ColumnKind>(kind);
    read(&column->values);
    column->row_splits.resize(in_.count());
    for (Tensor& splits : column->row_splits) read(&splits);
    if (column->kind == ColumnKind::kSparse) read(&column->indices);
    if (column->values.dtype == DType::kBytes) read(&column->byte_offsets);
    column->dense_shape = shape();
    std::vector<std::string> keys(in_.count());
    for (std::string& key : keys) key = text();
    if (!keys.empty()) column->keys = std::make_shared<const std::vector<std::string>>(std::move(keys));
  }

  void read(Tensor* tensor) {
    const std::uint64_t dtype = in_.get();
    if (!check(dtype >= 1 && dtype <= static_cast<std::uint64_t>(DType::kFloat8E5m2fnuz))) return;
    tensor->dtype = static_cast<DType>(dtype);
    tensor->shape = shape();
    auto bytes = static_cast<std::int64_t>(size_of(tensor->dtype));
    for (const std::int64_t size : tensor->shape) {
      check(size >= 0 && !__builtin_mul_overflow(bytes, size, &bytes));
    }
    const std::uint64_t place = in_.get();
    if (place == buffers_.size()) {
      check(bytes == 0);
      return;
    }
    const std::uint64_t offset = in_.get();
    const bool holds =
        place < buffers_.size() && offset <= used_[place] && static_cast<std::uint64_t>(bytes) <= used_[place] - offset;
    if (!check(holds)) return;
    tensor->buffer = buffers_[place];
    tensor->data = tensor->buffer->data() + offset;
  }

  // The headers and the offsets of the strings say the same, and reach no further than the buffer.
  bool read_strings(Column* column) {
    const Tensor& values = column->values;
    if (!in_.ok() || column->byte_offsets.dtype != DType::kInt64 || column->byte_offsets.data == nullptr) return false;
    const std::int64_t strings = values.elements();
    if (column->byte_offsets.elements() != strings + 1) return false;
    if (values.data == nullptr) return false;
    const auto place =
        static_cast<std::size_t>(std::find(buffers_.begin(), buffers_.end(), values.buffer) - buffers_.begin());
    const std::size_t room =
        used_[place] - static_cast<std::size_t>(values.data - values.buffer->data()) - values.bytes();
    std::uint64_t before = load_u64(column->byte_offsets.data);
    if (before != 0) return false;
    const std::size_t payload = values.bytes();
    for (std::int64_t i = 0; i < strings; ++i) {
      const std::uint64_t end = load_u64(column->byte_offsets.data + (i + 1) * 8);
      if (end < before || end > room || end - before >= kStringLimit) return false;
      const std::uint8_t* header = values.data + static_cast<std::size_t>(i) * kStringHeaderBytes;
      const std::uint64_t distance = payload - static_cast<std::size_t>(i) * kStringHeaderBytes + before;
      if (load_u32(header) != ((end - before) << 2 | 2) || load_u32(header + 4) != distance) return false;
      before = end;
    }
    column->payload = values.data + payload;
    return true;
  }

  bool check(bool holds) {
    if (!holds) in_.fail();
    return in_.ok();
  }
  std::string text() {
    const std::span<const std::uint8_t> bytes = in_.take(in_.count());
    return {bytes.begin(), bytes.end()};
  }
  Shape shape() {
    Shape shape;
    for (std::size_t left = in_.count(); left > 0; --left) shape.push_back(static_cast<std::int64_t>(in_.get()));
    return shape;
  }

  VarintReader in_;
  BufferPool& pool_;
  std::vector<BufferPtr> buffers_;
  std::vector<std::size_t> used_;  // bytes of them
};

}  // namespace

std::vector<std::uint8_t> encode_slices(std::span<const Slice> slices) { return Encoder().encode(slices); }

Result<std::vector<Slice>> decode_slices(std::span<const std::uint8_t> bytes, BufferPool& pool) {
  return Decoder(bytes, pool).decode();
}

}  // namespace headrace
