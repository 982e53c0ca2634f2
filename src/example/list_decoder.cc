#include "example/list_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "base/wire.h"
#include "example/packed_varints.h"
#include "example/varint_word.h"
#include "example/wire_field.h"

namespace headrace {
namespace {

constexpr std::uint32_t kValues = 1;  // field number in each of the three lists
constexpr std::uint8_t kPackedTag = 0x0A;
constexpr std::uint8_t kUnpackedTag = 0x08;

using Bytes = std::span<const std::uint8_t>;

// The chunk of a list that is one packed chunk and nothing else, the usual form.
bool is_one_chunk(const FeatureView& list, Bytes* chunk) {
  if (list.size < 2 || list.data[0] != kPackedTag) return false;
  const std::uint8_t* end = list.data + list.size;
  std::uint64_t size = 0;
  const std::uint8_t* p = read_varint(list.data + 1, end, &size);
  if (p == nullptr || size != static_cast<std::uint64_t>(end - p)) return false;
  *chunk = {p, static_cast<std::size_t>(size)};
  return true;
}

// Gives `take` each field 1 of the list, which answers false for one that is malformed.
template <class Take>
bool for_each_value(const FeatureView& list, Take take) {
  FieldReader fields({list.data, list.size});
  WireField field;
  while (fields.next(&field)) {
    if (field.number == kValues && !take(field)) return false;
  }
  return !fields.malformed();
}

// Reads the unpacked values of up to 8 bytes that stand next to each other at `p`. The byte behind them.
const std::uint8_t* read_unpacked(const std::uint8_t* p, const std::uint8_t* end, std::int64_t* out,
                                  std::int64_t capacity, std::int64_t* count) {
  while (end - p >= 2 && *p == kUnpackedTag) {
    const std::uint64_t word = load_u64(p + 1);
    const std::uint64_t last_bytes = ~word & kVarintMasks.continuation[8];
    if (last_bytes == 0) break;
    const int bytes = std::countr_zero(last_bytes) / 8 + 1;
    if (bytes > end - p - 1) break;
    if (*count < capacity) {
      out[*count] = static_cast<std::int64_t>(join_varint_groups(word, static_cast<unsigned>(bytes)));
    }
    ++*count;
    p += 1 + bytes;
  }
  return p;
}

std::int64_t walk_int64_list(const FeatureView& list, std::int64_t* out, std::int64_t capacity) {
  const std::uint8_t* end = list.data + list.size;
  std::int64_t count = 0;
  const std::uint8_t* p = list.data;
  while (true) {
    p = read_unpacked(p, end, out, capacity, &count);
    FieldReader fields({p, end});
    WireField field;
    if (!fields.next(&field)) return fields.malformed() ? -1 : count;
    p = fields.position();
    if (field.number != kValues) continue;
    if (field.type == WireType::kVarint) {
      if (count < capacity) out[count] = static_cast<std::int64_t>(field.value);
      ++count;
      continue;
    }
    if (field.type != WireType::kBytes) return -1;
    const std::int64_t written = std::min(count, capacity);
    const std::int64_t more =
        decode_packed_varints(field.bytes.data(), field.bytes.size(), out + written, capacity - written);
    if (more < 0) return -1;
    count += more;
  }
}

std::int64_t walk_float_list(const FeatureView& list, float* out, std::int64_t capacity) {
  std::int64_t count = 0;
  const bool good = for_each_value(list, [&](const WireField& field) {
    if (field.type == WireType::kFixed32) {
      if (count < capacity) out[count] = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
      ++count;
      return true;
    }
    if (field.type != WireType::kBytes || field.bytes.size() % sizeof(float) != 0) return false;
    const auto more = static_cast<std::int64_t>(field.bytes.size() / sizeof(float));
    if (count < capacity && more > 0) {
      const auto copied = static_cast<std::size_t>(std::min(more, capacity - count));
      std::memcpy(out + count, field.bytes.data(), copied * sizeof(float));
    }
    count += more;
    return true;
  });
  return good ? count : -1;
}

}  // namespace

std::int64_t count_int64_list(const FeatureView& list) {
  Bytes chunk;
  if (is_one_chunk(list, &chunk)) return count_packed_varints(chunk.data(), chunk.size());
  return walk_int64_list(list, nullptr, 0);
}

std::int64_t decode_int64_list(const FeatureView& list, std::int64_t* out, std::int64_t capacity) {
  Bytes chunk;
  if (!is_one_chunk(list, &chunk)) return walk_int64_list(list, out, capacity);
  return decode_packed_varints(chunk.data(), chunk.size(), out, capacity);
}

bool read_int64_list(const FeatureView& list, std::vector<std::int64_t>* values) {
  const std::int64_t count = list.kind == ListKind::kAbsent ? 0 : count_int64_list(list);
  values->resize(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  if (count > 0) (void)decode_int64_list(list, values->data(), count);
  return count >= 0;
}

std::int64_t count_float_list(const FeatureView& list) { return decode_float_list(list, nullptr, 0); }

std::int64_t decode_float_list(const FeatureView& list, float* out, std::int64_t capacity) {
  Bytes chunk;
  if (!is_one_chunk(list, &chunk)) return walk_float_list(list, out, capacity);
  if (chunk.size() % sizeof(float) != 0) return -1;
  const auto count = static_cast<std::int64_t>(chunk.size() / sizeof(float));
  const auto copied = static_cast<std::size_t>(std::min(count, capacity));
  if (copied > 0) std::memcpy(out, chunk.data(), copied * sizeof(float));
  return count;
}

std::int64_t count_bytes_list(const FeatureView& list, std::int64_t* total_bytes) {
  std::int64_t count = 0;
  *total_bytes = 0;
  const bool good = for_each_value(list, [&](const WireField& field) {
    if (field.type != WireType::kBytes) return false;
    *total_bytes += static_cast<std::int64_t>(field.bytes.size());
    ++count;
    return true;
  });
  return good ? count : -1;
}

std::int64_t decode_bytes_list(const FeatureView& list, std::string_view* out, std::int64_t capacity) {
  std::int64_t count = 0;
  const bool good = for_each_value(list, [&](const WireField& field) {
    if (field.type != WireType::kBytes) return false;
    if (count < capacity) out[count] = {reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size()};
    ++count;
    return true;
  });
  return good ? count : -1;
}

bool is_legal_list(const FeatureView& list) {
  return for_each_value(list, [&list](const WireField& field) {
    if (field.type != WireType::kBytes) return true;
    if (list.kind == ListKind::kFloat) return field.bytes.size() % sizeof(float) == 0;
    return list.kind != ListKind::kInt64 || count_packed_varints(field.bytes.data(), field.bytes.size()) >= 0;
  });
}

}  // namespace headrace
