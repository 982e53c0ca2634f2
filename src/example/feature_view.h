// FeatureView: one feature of one record while it is still wire bytes. Borrowed from the record, or, for a list that came in
// several pieces, from the MergedList that its reader holds until take_merged().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace headrace {

/// Readable bytes that must follow every record, and so every list in it: word loads may run over an end, never use what
/// they find there.
constexpr std::size_t kRecordPadding = 64;

enum class ListKind : std::uint8_t {
  kAbsent = 0,  ///< key not in the record, or present without a kind: both count as missing
  kBytes = 1,   ///< the numbers are the field numbers of tf.train.Feature
  kFloat = 2,
  kInt64 = 3,
};

struct FeatureView {
  const std::uint8_t* data = nullptr;  ///< content of the list message (BytesList, FloatList, Int64List)
  std::uint32_t size = 0;
  ListKind kind = ListKind::kAbsent;
};

/// Memory of a list whose pieces were joined, padded like a record.
using MergedList = std::unique_ptr<std::uint8_t[]>;

}  // namespace headrace
