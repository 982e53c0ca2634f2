#include "example/feature_joiner.h"

#include <algorithm>

#include "example/wire_field.h"

namespace headrace {

void FeatureJoiner::clear() {
  pieces_.clear();
  size_ = 0;
  kind_ = ListKind::kAbsent;
}

const char* FeatureJoiner::add(Bytes feature) {
  FieldReader fields(feature);
  WireField field;
  while (fields.next(&field)) {
    if (field.type != WireType::kBytes || field.number > static_cast<std::uint32_t>(ListKind::kInt64)) continue;
    const auto found = static_cast<ListKind>(field.number);
    if (found != kind_) {  // a oneof: the last kind counts
      clear();
      kind_ = found;
    }
    pieces_.push_back(field.bytes);
    size_ += field.bytes.size();
  }
  if (fields.malformed()) return "the feature is damaged";
  return size_ > std::numeric_limits<std::uint32_t>::max() ? "a list of 4 GiB or more" : nullptr;
}

FeatureView FeatureJoiner::join(std::uint8_t* memory) const {
  if (pieces_.empty()) return {};
  const auto size = static_cast<std::uint32_t>(size_);
  if (pieces_.size() == 1) return {pieces_[0].data(), size, kind_};
  std::uint8_t* out = memory;
  for (const Bytes piece : pieces_) out = std::copy(piece.begin(), piece.end(), out);
  std::fill_n(out, kRecordPadding, 0);
  return {memory, size, kind_};
}

}  // namespace headrace
