#include "tensor/open_writer.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "tensor/bytes_column.h"
#include "tensor/open_shape.h"
#include "tensor/open_tensor.h"

namespace headrace {
namespace {

using Bytes = std::span<const std::uint8_t>;

// A tensor of `dims` inside the larger `slot`, element by element in the order of the slot: take(n) for the next n of the
// tensor, pad(n) for n of padding.
template <class Take, class Pad>
class SlotWalk {
 public:
  SlotWalk(const Shape& dims, const Shape& slot, Take take, Pad pad)
      : dims_(dims), slot_(slot), take_(take), pad_(pad) {
    // Dimensions at the end that are full make one piece.
    full_ = dims.size();
    while (full_ > 0 && dims_[full_ - 1] == slot_[full_ - 1]) piece_ *= dims_[--full_];
  }
  void run() { visit(0, element_count(slot_)); }

 private:
  // `inside` elements of the slot belong to one index of the dimensions before `d`.
  void visit(std::size_t d, std::int64_t inside) {
    if (d >= full_) return take_(inside);
    const std::int64_t size = dims_[d];
    const std::int64_t step = slot_[d] == 0 ? 0 : inside / slot_[d];
    if (d + 1 == full_) {
      take_(size * piece_);
    } else {
      for (std::int64_t i = 0; i < size; ++i) visit(d + 1, step);
    }
    pad_((slot_[d] - size) * step);
  }

  const Shape& dims_;
  const Shape& slot_;
  Take take_;
  Pad pad_;
  std::size_t full_ = 0;
  std::int64_t piece_ = 1;
};

void fill(std::uint8_t* to, std::size_t bytes, Bytes image) {
  if (bytes == 0) return;
  std::memcpy(to, image.data(), image.size());
  for (std::size_t done = image.size(); done < bytes; done *= 2)
    std::memcpy(to + done, to, std::min(done, bytes - done));
}

// The dimensions of one record, from its notes.
void read_dims(const Feature& feature, const VariableMemory& memory, const Note* notes, Shape* dims) {
  const Shape& slot = memory.open.shape;
  *dims = slot;
  const std::size_t noted = std::min(slot.size(), static_cast<std::size_t>(open_dimensions(feature)));
  for (std::size_t d = 0; d < noted; ++d) (*dims)[d] = notes[d + 1].count;
}

// The noted elements as the column has them.
bool write_numbers(const Feature& feature, const VariableColumn& column, const Note& note, ParseScratch& scratch,
                   std::uint8_t* to) {
  if (column.transforms == nullptr) return write_tensor_values(feature, note, scratch, to);
  if (note.count == 0) return true;
  const std::uint8_t* values = read_tensor_values(feature, note, scratch);
  return values != nullptr && run_transforms(*column.transforms, values, to, note.count, scratch).index < 0;
}

bool write_padded_numbers(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                          const Note* notes, ParseScratch& scratch, std::uint8_t* to) {
  const std::size_t item = column.value_bytes;
  read_dims(feature, memory, notes, &scratch.dims);
  if (scratch.dims == memory.open.shape) return write_numbers(feature, column, *notes, scratch, to);
  const std::size_t bytes = static_cast<std::size_t>(notes->count) * item;
  Bytes values = column.transforms == nullptr ? plain_values(feature, *notes, scratch) : Bytes();
  if (values.empty()) {
    scratch.bytes.resize(bytes);
    if (!write_numbers(feature, column, *notes, scratch, scratch.bytes.data())) return false;
    values = scratch.bytes;
  }
  if (values.size() != bytes) return false;
  const std::uint8_t* from = values.data();
  const auto take = [&](std::int64_t elements) {
    const std::size_t taken = static_cast<std::size_t>(elements) * item;
    scratch.mode.copy(to, from, taken);
    from += taken;
    to += taken;
  };
  const auto pad = [&](std::int64_t elements) {
    const std::size_t padded = static_cast<std::size_t>(elements) * item;
    fill(to, padded, column.padding);
    to += padded;
  };
  SlotWalk(scratch.dims, memory.open.shape, take, pad).run();
  return true;
}

bool write_strings(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                   const Note* notes, ParseScratch& scratch, BytesAppender* out) {
  if (!read_tensor_strings(*notes, scratch)) return false;
  auto next = scratch.strings.cbegin();
  const auto take = [&](std::int64_t elements) {
    for (std::int64_t i = 0; i < elements; ++i) {
      out->append(*next);
      if (next + 1 != scratch.strings.cend()) ++next;  // the last one stands for the rest
    }
  };
  const auto pad = [&](std::int64_t elements) {
    for (std::int64_t i = 0; i < elements; ++i) out->append(column.padding_string);
  };
  if (memory.open.ragged > 0) {
    take(notes->count);
    return true;
  }
  read_dims(feature, memory, notes, &scratch.dims);
  SlotWalk(scratch.dims, memory.open.shape, take, pad).run();
  return true;
}

// The ends of the rows of every ragged dimension: each record's rows of one dimension are all of the same length.
void write_splits(const VariableColumn& column, const VariableMemory& memory, const SegmentNotes& notes) {
  const auto slot = static_cast<std::size_t>(column.slot);
  for (std::size_t dimension = 0; dimension < memory.splits.size(); ++dimension) {
    const std::int64_t above = dimension == 0 ? notes.segment.local_begin : notes.before[slot + dimension].count;
    std::int64_t* end = memory.splits[dimension] + above + 1;
    std::int64_t at = notes.before[slot + dimension + 1].count;
    for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
      const Note* note = notes.at(local, column.slot + static_cast<std::int32_t>(dimension));
      const std::int64_t rows = dimension == 0 ? 1 : note[0].count;
      const std::int64_t length = rows == 0 ? 0 : note[1].count / rows;
      for (std::int64_t row = 0; row < rows; ++row) {
        at += length;
        *end++ = at;
      }
    }
  }
}

}  // namespace

Status write_open(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                  const SegmentNotes& notes, ParseScratch& scratch) {
  const NoteSum& before = notes.before[static_cast<std::size_t>(column.slot)];
  const std::size_t item = column.value_bytes;
  const bool is_ragged = memory.open.ragged > 0;
  const std::int64_t row_elements = element_count(memory.open.shape);
  const std::int64_t first = is_ragged ? before.count : notes.segment.local_begin * row_elements;
  write_splits(column, memory, notes);

  if (column.dtype == DType::kBytes) {
    const auto padding_bytes = static_cast<std::int64_t>(column.padding_string.size());
    BytesAppender out({memory.values, memory.offsets, memory.elements}, first,
                      before.bytes + (first - before.count) * padding_bytes, scratch.mode);
    for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
      const Note* note = notes.at(local, column.slot);
      if (!write_strings(feature, column, memory, note, scratch, &out)) return changed_record(feature, notes, local);
    }
    return {};
  }
  std::uint8_t* to = memory.values + static_cast<std::size_t>(first) * item;
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    const Note* note = notes.at(local, column.slot);
    const bool is_written = is_ragged ? write_numbers(feature, column, *note, scratch, to)
                                      : write_padded_numbers(feature, column, memory, note, scratch, to);
    if (!is_written) return changed_record(feature, notes, local);
    to += static_cast<std::size_t>(is_ragged ? note->count : row_elements) * item;
  }
  return {};
}

}  // namespace headrace
