#include "batch/position_journal.h"

#include <algorithm>
#include <utility>

namespace headrace {

void apply(const StateDelta& delta, DecodedState* state) {
  state->words.assign(delta.words.begin(), delta.words.end());
  std::vector<RecordId>* list = nullptr;
  std::uint32_t stage = 0;
  for (const SlotWrite& write : delta.slots) {
    if (list == nullptr || write.stage != stage) {
      stage = write.stage;
      list = &state->slots[stage];
    }
    if (write.id.shard == kEndOfSlots) {
      if (write.slot < list->size()) list->resize(write.slot);
      continue;
    }
    if (write.slot >= list->size()) list->resize(std::size_t{write.slot} + 1);
    (*list)[write.slot] = write.id;
  }
}

PositionJournal::PositionJournal(DecodedState state, std::int64_t batches, std::int64_t epoch)
    : base_(std::move(state)), base_batches_(batches), base_epoch_(epoch) {}

void PositionJournal::deliver(StateDelta delta, std::int64_t epoch) { entries_.push_back({std::move(delta), epoch}); }

void PositionJournal::settle() {
  for (; entries_.size() > kKept; entries_.pop_front()) {
    apply(entries_.front().delta, &base_);
    base_epoch_ = entries_.front().epoch;
    ++base_batches_;
  }
}

Result<Position> PositionJournal::position(int back) const {
  const auto kept = static_cast<std::int64_t>(entries_.size());
  const std::int64_t oldest = std::min<std::int64_t>(kept, kKept);  // whether settle() came or not
  if (back < 0 || back > oldest) {
    return invalid_argument("the position " + std::to_string(back) + " batches back is not kept; the oldest one is " +
                            std::to_string(oldest) + " back");
  }
  DecodedState state = base_;
  Position position{.epoch = base_epoch_, .batches = base_batches_ + kept - back};
  for (std::int64_t i = 0; i < kept - back; ++i) {
    const Entry& entry = entries_[static_cast<std::size_t>(i)];
    apply(entry.delta, &state);
    position.epoch = entry.epoch;
  }
  if (!state.words.empty()) position.data = encode_state(state);
  return position;
}

}  // namespace headrace
