// StageState: what a stage writes when a batch is cut and reads when a position is restored (docs/design/state_format.md).
//
// A state is a flat list of words plus, for buffers of records, one list of slots per stage. Every stage writes its own
// words in a fixed order behind those of its input; restore() reads them in the same order. Slots are written as changes
// since the last save(), so that saving costs what changed, not what is buffered.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "headrace/status.h"
#include "record/block.h"

namespace headrace {

/// Value of RecordId::shard in a SlotWrite that ends the list of a stage before `slot`.
constexpr std::uint32_t kEndOfSlots = 0xFFFFFFFFU;

struct SlotWrite {
  std::uint32_t stage;  ///< op id of the stage
  std::uint32_t slot;
  RecordId id;
};

/// Filled by save(); belongs to one batch.
struct StateDelta {
  std::vector<std::uint64_t> words;
  std::vector<SlotWrite> slots;
};

/// What restore() reads.
class StateReader {
 public:
  StateReader(std::span<const std::uint64_t> words, const std::map<std::uint32_t, std::vector<RecordId>>* slots)
      : words_(words), slots_(slots) {}

  /// The next word; a kInvalidArgument failure when there is none.
  Result<std::uint64_t> word() {
    if (words_.empty()) return invalid_argument("the saved position ends too early");
    const std::uint64_t value = words_.front();
    words_ = words_.subspan(1);
    return value;
  }
  /// The slots of a stage; empty when it has none.
  std::span<const RecordId> slots(std::uint32_t stage) const {
    const auto found = slots_->find(stage);
    return found == slots_->end() ? std::span<const RecordId>() : std::span<const RecordId>(found->second);
  }
  bool at_end() const { return words_.empty(); }

 private:
  std::span<const std::uint64_t> words_;
  const std::map<std::uint32_t, std::vector<RecordId>>* slots_;
};

/// Reads single records again, for buffers that are restored.
class RecordFetcher {
 public:
  virtual ~RecordFetcher() = default;
  /// Appends one run of one record per id, in the order of `ids`. Fails when a record is not what it was.
  virtual Status fetch(std::span<const RecordId> ids, std::vector<RecordRun>* runs) = 0;
};

}  // namespace headrace
