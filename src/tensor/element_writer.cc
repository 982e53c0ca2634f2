#include "tensor/element_writer.h"

#include <cstring>
#include <string>
#include <string_view>

#include "example/list_decoder.h"
#include "example/scalar_decoder.h"

namespace headrace {

ElementWriter::ElementWriter(const VariableColumn& column, const VariableMemory& memory, std::int64_t element,
                             std::int64_t position, ParseScratch& scratch)
    : column_(column), scratch_(scratch), size_(size_of(column.dtype)) {
  if (column.dtype == DType::kBytes) {
    strings_.emplace(BytesColumnMemory{memory.values, memory.offsets, memory.elements}, element, position,
                     scratch.mode);
  } else {
    to_ = memory.values + static_cast<std::size_t>(element) * size_;
  }
}

bool ElementWriter::write(const FeatureView& list, std::int64_t count) {
  if (strings_) return write_strings(list, count);
  if (column_.dtype == DType::kInt64) {
    if (decode_int64_list(list, reinterpret_cast<std::int64_t*>(to_), count) != count) return false;
  } else if (!write_floats(list, count)) {
    return false;
  }
  to_ += static_cast<std::size_t>(count) * size_;
  return true;
}

std::int64_t ElementWriter::write_up_to(const FeatureView& list, std::int64_t limit) {
  std::int64_t count = 0;
  switch (list.kind) {
    case ListKind::kAbsent:
      return 0;
    case ListKind::kInt64:
      count = count_int64_list(list);
      break;
    case ListKind::kFloat:
      count = count_float_list(list);
      break;
    case ListKind::kBytes: {
      std::int64_t bytes = 0;
      count = count_bytes_list(list, &bytes);
      break;
    }
  }
  return count <= limit && write(list, count) ? count : -1;
}

bool ElementWriter::write_in_order(const Note& note, std::span<const std::int64_t> order) {
  if (strings_) {
    if (!read_strings(note.view(), note.count)) return false;
    for (const std::int64_t from : order) strings_->append(scratch_.strings[static_cast<std::size_t>(from)]);
    return true;
  }
  std::uint8_t* to = to_;
  if (!write(note)) return false;
  scratch_.bytes.assign(to, to_);
  for (const std::int64_t from : order) {
    std::memcpy(to, scratch_.bytes.data() + static_cast<std::size_t>(from) * size_, size_);
    to += size_;
  }
  return true;
}

bool ElementWriter::write_tensor(const Note& note) {
  if (!read_tensor_proto({note.data, note.size}, &scratch_.tensor).ok()) return false;
  if (!decode_string_tensor(scratch_.tensor, &scratch_.strings).ok()) return false;
  const auto present = static_cast<std::int64_t>(scratch_.strings.size());
  if (present > note.count) return false;
  for (const std::string_view text : scratch_.strings) strings_->append(text);
  for (std::int64_t i = present; i < note.count; ++i) strings_->append(scratch_.strings.back());
  return true;
}

void ElementWriter::write_fallback() {
  for (const std::string& text : column_.fallback_strings) strings_->append(text);
}

void ElementWriter::pad(std::int64_t elements) {
  if (strings_) {
    for (std::int64_t i = 0; i < elements; ++i) strings_->append(column_.padding_string);
    return;
  }
  for (std::int64_t i = 0; i < elements; ++i, to_ += size_) std::memcpy(to_, column_.padding.data(), size_);
}

bool ElementWriter::write_floats(const FeatureView& list, std::int64_t count) {
  const std::uint8_t* data = nullptr;
  std::uint64_t size = 0;
  if (decode_bytes_scalar(list, &data, &size) && size == static_cast<std::size_t>(count) * size_) {
    scratch_.mode.copy(to_, data, size);
    return true;
  }
  return decode_float_list(list, reinterpret_cast<float*>(to_), count) == count;
}

bool ElementWriter::write_strings(const FeatureView& list, std::int64_t count) {
  const std::uint8_t* data = nullptr;
  std::uint64_t size = 0;
  if (count == 1 && decode_bytes_scalar(list, &data, &size)) {
    strings_->append(data, size);
    return true;
  }
  if (!read_strings(list, count)) return false;
  for (const std::string_view text : scratch_.strings) strings_->append(text);
  return true;
}

bool ElementWriter::read_strings(const FeatureView& list, std::int64_t count) {
  scratch_.strings.resize(static_cast<std::size_t>(count));
  return decode_bytes_list(list, scratch_.strings.data(), count) == count;
}

}  // namespace headrace
