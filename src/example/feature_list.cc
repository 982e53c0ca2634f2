#include "example/feature_list.h"

#include "example/wire_field.h"

namespace headrace {

bool StepReader::next_in_any_form(FeatureView* step) {
  constexpr std::uint32_t kStep = 1;
  FieldReader fields({at_, static_cast<std::size_t>(end_ - at_)});
  WireField field;
  while (fields.next(&field)) {
    if (!field.is(kStep, WireType::kBytes)) continue;
    FeatureJoiner& joiner = scratch_->joiner;
    joiner.clear();
    malformed_ = joiner.add(field.bytes) != nullptr;
    if (joiner.in_pieces()) scratch_->memory.resize(joiner.memory_bytes());
    *step = joiner.join(scratch_->memory.data());
    at_ = malformed_ ? end_ : fields.position();
    return !malformed_;
  }
  malformed_ = fields.malformed();
  at_ = end_;
  return false;
}

}  // namespace headrace
