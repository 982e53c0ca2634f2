#include "example/wire_field.h"

#include <array>

#include "base/wire.h"

namespace headrace {
namespace {

constexpr std::uint32_t kEndGroup = 4;
constexpr std::size_t kMaxGroupDepth = 100;

// The byte behind a field of wire type 0, 1, 2 or 5 whose tag was read; null when it is malformed.
const std::uint8_t* read_payload(std::uint32_t type, const std::uint8_t* p, const std::uint8_t* end, WireField* field) {
  const auto left = static_cast<std::uint64_t>(end - p);
  switch (type) {
    case 0:
      return read_varint(p, end, &field->value);
    case 1:
      if (left < 8) return nullptr;
      field->value = load_u64(p);
      return p + 8;
    case 2: {
      std::uint64_t size = 0;
      p = read_varint(p, end, &size);
      if (p == nullptr || size > static_cast<std::uint64_t>(end - p)) return nullptr;
      field->bytes = {p, static_cast<std::size_t>(size)};
      return p + size;
    }
    case 5:
      if (left < 4) return nullptr;
      field->value = load_u32(p);
      return p + 4;
    default:
      return nullptr;
  }
}

// Reads a tag; its low 32 bits count, as in protobuf. Null when it is malformed.
const std::uint8_t* read_tag(const std::uint8_t* p, const std::uint8_t* end, std::uint32_t* number,
                             std::uint32_t* type) {
  std::uint64_t tag = 0;
  p = read_varint(p, end, &tag);
  *number = static_cast<std::uint32_t>(tag) >> 3;
  *type = static_cast<std::uint32_t>(tag) & 7;
  return *number == 0 ? nullptr : p;
}

// The byte behind the end of the group `number`, whose start was read; null when it is malformed.
const std::uint8_t* skip_group(std::uint32_t number, const std::uint8_t* p, const std::uint8_t* end) {
  std::array<std::uint32_t, kMaxGroupDepth> open;
  std::size_t depth = 0;
  open[depth++] = number;
  while (depth > 0) {
    std::uint32_t type = 0;
    p = read_tag(p, end, &number, &type);
    if (p == nullptr) return nullptr;
    if (type == static_cast<std::uint32_t>(WireType::kGroup)) {
      if (depth == kMaxGroupDepth) return nullptr;
      open[depth++] = number;
    } else if (type == kEndGroup) {
      if (open[--depth] != number) return nullptr;
    } else {
      WireField ignored;
      p = read_payload(type, p, end, &ignored);
      if (p == nullptr) return nullptr;
    }
  }
  return p;
}

}  // namespace

bool FieldReader::next(WireField* field) {
  if (malformed_ || at_ == end_) return false;
  std::uint32_t type = 0;
  const std::uint8_t* p = read_tag(at_, end_, &field->number, &type);
  if (p == nullptr) return fail();
  p = type == static_cast<std::uint32_t>(WireType::kGroup) ? skip_group(field->number, p, end_)
                                                           : read_payload(type, p, end_, field);
  if (p == nullptr) return fail();
  field->type = static_cast<WireType>(type);
  at_ = p;
  return true;
}

bool FieldReader::fail() {
  malformed_ = true;
  return false;
}

bool is_message(std::span<const std::uint8_t> bytes) {
  FieldReader fields(bytes);
  for (WireField field; fields.next(&field);) continue;
  return !fields.malformed();
}

}  // namespace headrace
