#include "tensor/bytes_column.h"

#include "base/utf8.h"

namespace headrace {

Result<std::size_t> bytes_column_size(const std::string& key, std::int64_t elements, std::int64_t payload_bytes) {
  // Elements are bounded by the bytes of the records, except for padding: the product is checked.
  std::uint64_t total = 0;
  if (!__builtin_mul_overflow(static_cast<std::uint64_t>(elements), kStringHeaderBytes, &total) &&
      !__builtin_add_overflow(total, static_cast<std::uint64_t>(payload_bytes), &total) && total <= kBytesColumnLimit) {
    return static_cast<std::size_t>(total);
  }
  Where where;
  where.key = key;
  where.expected = "at most 4 GiB in one bytes column of a slice";
  where.found = std::to_string(elements) + " strings of " + std::to_string(payload_bytes) + " bytes together";
  std::string text =
      "feature '" + printable_utf8(key, 120) + "': " + where.found +
      " do not fit a bytes column, which holds at most 4 GiB a slice; a smaller batch or more replicas help";
  return Status(StatusCode::kResourceExhausted, std::move(text), std::move(where));
}

}  // namespace headrace
