#include "strings.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace headrace::tf {
namespace {

constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kMaxSmallBytes = 22;  // and a zero behind them
constexpr std::uint64_t kTypeMask = 3;

/// TF_TString_Type, the low two bits of a header.
enum StringType : std::uint64_t { kSmall = 0, kLarge = 1, kOffset = 2, kView = 3 };

struct Large {
  std::uint64_t size_and_type;
  std::uint64_t capacity;
  char* bytes;  // of malloc, which is what TensorFlow frees and enlarges
};
static_assert(sizeof(Large) == kHeaderBytes);

struct Bytes {
  const char* data;
  std::size_t size;
};

/// The string behind a header of OFFSET or VIEW type.
Bytes string_at(const char* header) {
  std::uint64_t first = 0;
  std::memcpy(&first, header, sizeof(first));
  if ((first & kTypeMask) == kView) {
    const char* data = nullptr;
    std::memcpy(&data, header + sizeof(first), sizeof(data));
    return {data, static_cast<std::size_t>(first >> 2)};
  }
  const auto distance = static_cast<std::uint32_t>(first >> 32);
  return {header + distance, static_cast<std::size_t>(static_cast<std::uint32_t>(first) >> 2)};
}

/// Writes a header that owns a copy of `string`; false when there is no memory.
bool copy_string(Bytes string, char* header) {
  if (string.size <= kMaxSmallBytes) {
    header[0] = static_cast<char>(string.size << 2 | kSmall);
    if (string.size > 0) std::memcpy(header + 1, string.data, string.size);
    return true;
  }
  auto* bytes = static_cast<char*>(std::malloc(string.size + 1));
  if (bytes == nullptr) return false;
  std::memcpy(bytes, string.data, string.size);
  bytes[string.size] = '\0';
  const Large large{string.size << 2 | kLarge, string.size, bytes};
  std::memcpy(header, &large, sizeof(large));
  return true;
}

/// Frees headers and what they own by now: an op that was the last reader may have moved strings away or put others there.
void free_strings(void* data, std::size_t bytes, void* /*argument*/) {
  const char* headers = static_cast<const char*>(data);
  for (std::size_t at = 0; at < bytes; at += kHeaderBytes) {
    Large large{};
    std::memcpy(&large, headers + at, sizeof(large));
    if ((large.size_and_type & kTypeMask) == kLarge) std::free(large.bytes);
  }
  std::free(data);
}

}  // namespace

TF_Tensor* own_strings(const Api& api, const HeadraceTensor& from) {
  constexpr std::size_t kAlignment = 64;  // less, and TensorFlow ends the process
  const std::size_t bytes = static_cast<std::size_t>(from.bytes);
  const std::size_t allocated = bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto* headers = static_cast<char*>(std::aligned_alloc(kAlignment, allocated));
  bool is_whole = headers != nullptr;
  if (is_whole) std::memset(headers, 0, allocated);  // headers of empty strings
  for (std::size_t at = 0; is_whole && at < bytes; at += kHeaderBytes) {
    is_whole = copy_string(string_at(static_cast<const char*>(from.data) + at), headers + at);
  }
  TF_Tensor* tensor = nullptr;
  if (is_whole) tensor = api.TF_NewTensor(kString, from.dims, from.rank, headers, bytes, free_strings, nullptr);
  if (!is_whole && headers != nullptr) free_strings(headers, bytes, nullptr);
  from.release(from.owner);
  return tensor;
}

}  // namespace headrace::tf
