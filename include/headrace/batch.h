// Batch: what one next() yields. Columns of one global batch, cut into one slice per replica.
//
// Memory: each column points into a Buffer that is shared by reference count; a column is valid and writable as long as its
// Batch or a copy of its `buffer` lives. Behind prefetch_to_device to a CUDA device, columns of numbers lie in its memory,
// columns of strings stay with the host (Buffer::device() tells). Every column starts on a 256-byte boundary. Dropping the last reference hands the
// memory back to the pipeline's pool, from any thread, also after the pipeline is closed.
// Values may be read from several threads; writing elements needs the caller's own synchronisation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/device.h"
#include "headrace/types.h"

namespace headrace {

/// One piece of memory. Obtained only from the library.
class Buffer {
 public:
  Buffer(std::uint8_t* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return bytes_; }

  /// The device whose memory it is, as long as the buffer lives; null = the host. The host must not follow the address of
  /// memory of a device.
  virtual const Device* device() const { return nullptr; }
  /// To be called before work of a device is given the buffer: it may still read when the last reference goes, and the memory
  /// is not written to before it is done. `stream` is a CUstream of the device's primary context that outlives the buffer;
  /// nothing = any stream. Host memory ignores it. Any thread.
  virtual void read_by(std::optional<std::uintptr_t> /*stream*/) {}

 private:
  std::uint8_t* data_;
  std::size_t bytes_;
};
using BufferPtr = std::shared_ptr<Buffer>;

/// A dense, C-contiguous array inside a buffer. For kBytes the elements are 24-byte string headers (see Column).
struct Tensor {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint8_t* data = nullptr;  ///< inside buffer; null only when there are no elements
  BufferPtr buffer;

  std::int64_t elements() const { return element_count(shape); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype); }
};

enum class ColumnKind : std::uint8_t { kDense = 1, kRagged = 2, kSparse = 3, kJagged = 4 };

/// One feature of one slice.
/// Dense: `values` has shape [rows, …]. Ragged: `values` is flat [total, …] and row_splits[d] are the int64 splits of ragged
/// dimension d, outermost first, each starting at 0 within its slice.
/// Sparse: `values` is flat [n], `indices` int64 [n, rank] says where in dense_shape each lies, rows first and counted within
/// the slice; sorted, unless the schema said that the records are.
/// Jagged: the lists of several keys, all rows of the first key, then all of the next. `values` is flat [total],
/// row_splits[0] are the int64 offsets [keys * rows + 1] into it, row_splits[1] the int64 lengths [keys * rows].
/// Bytes (values.dtype == kBytes): `values.data` holds one 24-byte TensorFlow string header of OFFSET type per element,
/// followed by the payload of all strings in row order; byte_offsets is int64 [elements + 1] into `payload`.
/// Views (is_view): the headers are of VIEW type, u64 size << 2 | 3 and u64 address, and point into records that `buffer` keeps
/// readable; there are no byte_offsets and no payload. These bytes must not be written to.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::kDense;
  Tensor values;
  std::vector<Tensor> row_splits;
  Tensor indices;                                        ///< kSparse only
  Shape dense_shape;                                     ///< kSparse only: [rows, *sizes]
  std::shared_ptr<const std::vector<std::string>> keys;  ///< kJagged only
  Tensor byte_offsets;
  const std::uint8_t* payload = nullptr;  ///< kBytes only; lives in values.buffer

  bool is_view() const { return values.dtype == DType::kBytes && payload == nullptr; }
  /// String `i` of a bytes column; valid as long as the buffer.
  std::string_view bytes_at(std::int64_t i) const;
};

/// One replica's share of a global batch.
struct Slice {
  std::int64_t rows = 0;
  std::int64_t batch_number = 0;  ///< Batch::number and
  std::int64_t epoch = 0;         ///< Batch::epoch of its batch; set in slices that next_slice() gives
  std::vector<Column> columns;    ///< in schema order

  /// The column of that name, or null.
  const Column* find(std::string_view name) const;
};

/// One global batch.
struct Batch {
  std::int64_t number = 0;       ///< batches cut by this iterator before this one (restored positions included)
  std::int64_t epoch = 0;        ///< epoch of its first row
  std::int64_t global_rows = 0;  ///< records of all replicas, those of other processes included
  std::vector<Slice> replicas;   ///< one per device of this process; one when nothing was split
  std::int64_t first_row = 0;    ///< of the first slice, in the global batch
};

}  // namespace headrace
