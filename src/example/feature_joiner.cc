#include "example/feature_joiner.h"

#include <algorithm>

#include "example/list_decoder.h"
#include "example/wire_field.h"

namespace headrace {

void FeatureJoiner::clear() {
  first_ = {};
  has_several_ = false;
  pieces_.clear();
  size_ = 0;
  kind_ = ListKind::kAbsent;
}

const char* FeatureJoiner::add(Bytes feature) {
  FieldReader fields(feature);
  WireField field;
  while (fields.next(&field)) {
    if (field.type != WireType::kBytes || field.number > static_cast<std::uint32_t>(ListKind::kInt64)) continue;
    if (const char* reason = add_list(static_cast<ListKind>(field.number), field.bytes)) return reason;
  }
  return fields.malformed() ? "the feature is damaged" : nullptr;
}

const char* FeatureJoiner::add_list(ListKind kind, Bytes list) {
  if (kind != kind_) {  // a oneof: the last kind counts
    pieces_.clear();
    size_ = 0;
  }
  const bool is_first = kind_ == ListKind::kAbsent;
  kind_ = kind;
  pieces_.push_back(list);
  size_ += list.size();
  if (size_ > std::numeric_limits<std::uint32_t>::max()) return "a list of 4 GiB or more";
  const FeatureView view = {list.data(), static_cast<std::uint32_t>(list.size()), kind};
  if (is_first) {
    first_ = view;
    return nullptr;
  }
  const bool is_legal = is_legal_list(view) && (has_several_ || is_legal_list(first_));
  has_several_ = true;
  return is_legal ? nullptr : "one of its lists is damaged";
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
