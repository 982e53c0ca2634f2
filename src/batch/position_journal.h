// PositionJournal: the positions of the last delivered batches, as changes; and the text form of a position.
//
// The consumer's side owns it: deliver() is called for every batch in order, position() at any time in between. Not
// thread-safe; the caller holds its own mutex. deliver() costs next to nothing, since a consumer waits for it: changes pile up
// until somebody with more time calls settle().
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "headrace/position.h"
#include "record/stage_state.h"

namespace headrace {

/// A position taken apart.
struct DecodedState {
  std::vector<std::uint64_t> words;
  std::map<std::uint32_t, std::vector<RecordId>> slots;
};

/// Takes `state` behind the batch of `delta`: its words are replaced, its slots overwritten in order.
void apply(const StateDelta& delta, DecodedState* state);

/// base64 text <-> words and slots, format v1 (docs/design/state_format.md): varints, ids delta coded.
std::string encode_state(const DecodedState& state);
/// kInvalidArgument when the text is not a state of this format.
Result<DecodedState> decode_state(const std::string& data);

class PositionJournal {
 public:
  static constexpr int kKept = 64;

  /// Starts behind `state` (empty at the start of a stream) after `batches` delivered batches in `epoch`.
  PositionJournal(DecodedState state, std::int64_t batches, std::int64_t epoch);

  /// The next batch was delivered.
  void deliver(StateDelta delta, std::int64_t epoch);
  /// Applies the changes of all but the last kKept batches. Cost: what changed in them.
  void settle();
  /// Fills batches, epoch and data of a position `back` batches (0 … kKept) before the last delivered one;
  /// kInvalidArgument when that is further back than what is kept.
  Result<Position> position(int back) const;

 private:
  struct Entry {
    StateDelta delta;
    std::int64_t epoch;
  };
  DecodedState base_;  // behind batch number base_batches_
  std::int64_t base_batches_;
  std::int64_t base_epoch_;
  std::deque<Entry> entries_;  // the last ones, oldest first
};

}  // namespace headrace
