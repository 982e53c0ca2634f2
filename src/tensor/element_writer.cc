#include "tensor/element_writer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "example/list_decoder.h"
#include "example/scalar_decoder.h"

namespace headrace {

ElementWriter::ElementWriter(const VariableColumn& column, const VariableMemory& memory, std::int64_t element,
                             std::int64_t position, ParseScratch& scratch)
    : column_(column), scratch_(scratch), size_(column.value_bytes) {
  if (column.dtype == DType::kBytes) {
    strings_.emplace(BytesColumnMemory{memory.values, memory.offsets, memory.elements}, element, position,
                     scratch.mode);
  } else {
    to_ = memory.values + static_cast<std::size_t>(element) * size_;
  }
}

std::int64_t ElementWriter::write_up_to(const FeatureView& list, std::int64_t limit) {
  if (list.kind == ListKind::kAbsent) return 0;
  if (column_.transforms != nullptr) return write_transformed(list, limit, *column_.transforms);
  if (strings_) return write_strings(list, limit);
  const std::int64_t count = column_.dtype == DType::kInt64
                                 ? decode_int64_list(list, reinterpret_cast<std::int64_t*>(to_), limit)
                                 : write_floats(list, limit);
  if (count < 0 || count > limit) return -1;
  to_ += static_cast<std::size_t>(count) * size_;
  return count;
}

bool ElementWriter::write_in_order(const Note& note, std::span<const std::int64_t> order) {
  if (strings_) {
    if (read_strings(note.view(), note.count) != note.count) return false;
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

void ElementWriter::pad(std::int64_t elements, std::int64_t place) {
  if (strings_) {
    for (std::int64_t i = 0; i < elements; ++i) strings_->append(column_.padding_string);
    return;
  }
  const std::vector<std::uint8_t>& padding = column_.padding;
  std::size_t at = static_cast<std::size_t>(place) * size_ % padding.size();
  for (std::int64_t i = 0; i < elements; ++i, to_ += size_) {
    std::memcpy(to_, padding.data() + at, size_);
    at += size_;
    if (at == padding.size()) at = 0;
  }
}

std::int64_t ElementWriter::write_transformed(const FeatureView& list, std::int64_t limit,
                                              const StepTransforms& transforms) {
  const std::uint8_t* values = nullptr;
  const std::int64_t found = read_values(list, limit, scratch_, &values);
  const std::int64_t count = std::min(found, limit);  // a transform may have cut the list
  if (count <= 0) return count;
  if (strings_) {
    for (std::int64_t i = 0; i < count; ++i) strings_->append(scratch_.strings[static_cast<std::size_t>(i)]);
    return count;
  }
  const std::size_t bytes = static_cast<std::size_t>(count) * size_;
  if (transforms.list.program.empty()) {
    scratch_.mode.copy(to_, values, bytes);
  } else if (run_transforms(transforms, values, to_, count, scratch_).index >= 0) {
    return -1;
  }
  to_ += bytes;
  return count;
}

std::int64_t ElementWriter::write_floats(const FeatureView& list, std::int64_t limit) {
  const std::uint8_t* data = nullptr;
  std::uint64_t size = 0;
  if (decode_bytes_scalar(list, &data, &size) && size % size_ == 0 &&
      size / size_ <= static_cast<std::uint64_t>(limit)) {
    scratch_.mode.copy(to_, data, size);
    return static_cast<std::int64_t>(size / size_);
  }
  return decode_float_list(list, reinterpret_cast<float*>(to_), limit);
}

std::int64_t ElementWriter::write_strings(const FeatureView& list, std::int64_t limit) {
  const std::uint8_t* data = nullptr;
  std::uint64_t size = 0;
  if (limit > 0 && decode_bytes_scalar(list, &data, &size)) {
    strings_->append(data, size);
    return 1;
  }
  const std::int64_t count = read_strings(list, limit);
  for (std::int64_t i = 0; i < count; ++i) strings_->append(scratch_.strings[static_cast<std::size_t>(i)]);
  return count;
}

std::int64_t ElementWriter::read_strings(const FeatureView& list, std::int64_t limit) {
  const auto room = static_cast<std::size_t>(limit);
  if (scratch_.strings.size() < room) scratch_.strings.resize(room);
  const std::int64_t count = decode_bytes_list(list, scratch_.strings.data(), limit);
  return count <= limit ? count : -1;
}

}  // namespace headrace
