// Format v1 of a saved state (docs/design/state_format.md).
#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/checksum.h"
#include "base/varints.h"
#include "base/wire.h"
#include "batch/position_journal.h"

namespace headrace {
namespace {

constexpr std::uint8_t kFormat = 1;
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

using Bytes = std::vector<std::uint8_t>;

Status not_a_state(const char* why) { return invalid_argument(std::string("not a saved position: ") + why); }

/// Where a record should start if all records before it in its shard have the mean size of those before `from`.
std::uint64_t guess_offset(const RecordId& from, std::uint64_t ordinal) {
  const std::uint64_t mean = from.ordinal == 0 ? 0 : from.offset / from.ordinal;
  return from.offset + mean * (ordinal - from.ordinal);
}

/// Bits of one slot number in the permutation of `count` records.
unsigned slot_bits(std::size_t count) { return count < 2 ? 0 : static_cast<unsigned>(std::bit_width(count - 1)); }

std::size_t packed_bytes(std::size_t count) { return (count * slot_bits(count) + 7) / 8; }

void put_slots(const std::vector<RecordId>& ids, Bytes* out) {
  std::vector<std::uint32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(ids[a].shard, ids[a].ordinal, a) < std::tie(ids[b].shard, ids[b].ordinal, b);
  });

  put_varint(ids.size(), out);
  RecordId last;
  for (std::size_t i = 0; i < order.size();) {
    const std::uint32_t shard = ids[order[i]].shard;
    std::size_t end = i;
    while (end < order.size() && ids[order[end]].shard == shard) ++end;
    put_varint(shard - last.shard, out);
    put_varint(end - i, out);
    last = {.shard = shard};
    for (; i < end; ++i) {
      const RecordId& id = ids[order[i]];
      put_varint(id.ordinal - last.ordinal, out);
      put_varint(zigzag(id.offset - guess_offset(last, id.ordinal)), out);
      last = id;
    }
  }

  const unsigned bits = slot_bits(ids.size());
  const std::size_t start = out->size();
  out->resize(start + packed_bytes(ids.size()));
  std::size_t bit = 0;
  for (const std::uint32_t slot : order) {
    for (unsigned b = 0; b < bits; ++b, ++bit) {
      if ((slot >> b) & 1U) (*out)[start + bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
    }
  }
}

Status get_slots(VarintReader* in, std::vector<RecordId>* ids) {
  const std::size_t count = in->count(2);
  std::vector<RecordId> sorted;
  sorted.reserve(count);
  RecordId last;
  while (in->ok() && sorted.size() < count) {
    const std::uint64_t shard_step = in->get();
    const std::size_t in_shard = in->count(2);
    if (!in->ok() || in_shard == 0 || in_shard > count - sorted.size()) return not_a_state("wrong count of records");
    if (shard_step >= kEndOfSlots - last.shard) return not_a_state("wrong shard");
    last = {.shard = last.shard + static_cast<std::uint32_t>(shard_step)};
    for (std::size_t i = 0; i < in_shard; ++i) {
      const std::uint64_t ordinal = last.ordinal + in->get();
      const std::uint64_t offset = guess_offset(last, ordinal) + unzigzag(in->get());
      last.ordinal = ordinal;
      last.offset = offset;
      sorted.push_back(last);
    }
  }

  const unsigned bits = slot_bits(count);
  const std::span<const std::uint8_t> packed = in->take(packed_bytes(count));
  if (!in->ok()) return not_a_state("it ends too early");
  ids->assign(count, RecordId{});
  std::vector<bool> filled(count, false);
  std::size_t bit = 0;
  for (const RecordId& id : sorted) {
    std::size_t slot = 0;
    for (unsigned b = 0; b < bits; ++b, ++bit) slot |= std::size_t{(packed[bit / 8] >> (bit % 8)) & 1U} << b;
    if (slot >= count || filled[slot]) return not_a_state("wrong order of records");
    filled[slot] = true;
    (*ids)[slot] = id;
  }
  return {};
}

std::string to_base64(const Bytes& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = std::uint32_t{bytes[i]} << 16;
    if (have > 1) bits |= std::uint32_t{bytes[i + 1]} << 8;
    if (have > 2) bits |= bytes[i + 2];
    for (std::size_t c = 0; c < 4; ++c) text += c <= have ? kAlphabet[(bits >> (18 - 6 * c)) & 63U] : '=';
  }
  return text;
}

Result<Bytes> from_base64(const std::string& text) {
  if (text.size() % 4 != 0) return not_a_state("not base64");
  Bytes bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::size_t padding = 0;
    if (i + 4 == text.size()) padding = text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    std::uint32_t bits = 0;
    for (std::size_t c = 0; c < 4 - padding; ++c) {
      const std::size_t value = kAlphabet.find(text[i + c]);
      if (value == std::string_view::npos) return not_a_state("not base64");
      bits |= static_cast<std::uint32_t>(value) << (18 - 6 * c);
    }
    // One text for one state: bits that belong to no byte are 0.
    if ((bits & ((1U << (8 * padding)) - 1)) != 0) return not_a_state("not base64");
    for (std::size_t b = 0; b < 3 - padding; ++b) bytes.push_back(static_cast<std::uint8_t>(bits >> (16 - 8 * b)));
  }
  return bytes;
}

}  // namespace

std::string encode_state(const DecodedState& state) {
  Bytes bytes{kFormat};
  put_varint(state.words.size(), &bytes);
  for (const std::uint64_t word : state.words) put_varint(word, &bytes);
  put_varint(state.slots.size(), &bytes);
  for (const auto& [stage, ids] : state.slots) {
    put_varint(stage, &bytes);
    put_slots(ids, &bytes);
  }
  const std::uint32_t crc = crc32c(bytes.data(), bytes.size());
  bytes.resize(bytes.size() + sizeof crc);
  store_u32(bytes.data() + bytes.size() - sizeof crc, crc);
  return to_base64(bytes);
}

Result<DecodedState> decode_state(const std::string& data) {
  HEADRACE_ASSIGN_OR_RETURN(const Bytes bytes, from_base64(data));
  constexpr std::size_t kCrcBytes = sizeof(std::uint32_t);
  if (bytes.size() <= kCrcBytes) return not_a_state("it is too short");
  if (bytes[0] != kFormat) return not_a_state("it has another format");
  const std::size_t body = bytes.size() - kCrcBytes;
  if (crc32c(bytes.data(), body) != load_u32(bytes.data() + body)) return not_a_state("its checksum is wrong");

  VarintReader in(std::span<const std::uint8_t>(bytes).subspan(1, body - 1));
  DecodedState state;
  state.words.resize(in.count(1));
  for (std::uint64_t& word : state.words) word = in.get();
  const std::size_t stages = in.count(2);
  for (std::size_t i = 0; i < stages; ++i) {
    const std::uint64_t stage = in.get();
    if (!in.ok() || stage > UINT32_MAX || (i > 0 && stage <= state.slots.rbegin()->first)) {
      return not_a_state("wrong stage");
    }
    HEADRACE_RETURN_IF_ERROR(get_slots(&in, &state.slots[static_cast<std::uint32_t>(stage)]));
  }
  if (!in.ok() || in.left() > 0) return not_a_state("wrong length");
  return state;
}

}  // namespace headrace
