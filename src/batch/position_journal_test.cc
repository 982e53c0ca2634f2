#include "batch/position_journal.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace headrace::testing {
namespace {

StateDelta delta_of(std::uint64_t batch) {
  StateDelta delta{.words = {batch, batch * batch}};
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto slot = static_cast<std::uint32_t>(random_below(i, batch, 10 + batch % 7));
    delta.slots.push_back({4, slot, {1, batch, i}});
  }
  if (batch % 5 == 4) delta.slots.push_back({4, 6, {.shard = kEndOfSlots}});
  if (batch % 9 == 1) delta.slots.push_back({2, static_cast<std::uint32_t>(batch % 3), {0, batch, 0}});
  return delta;
}

TEST(PositionJournal, GivesEveryKeptPosition) {
  PositionJournal journal({}, 0, 0);
  DecodedState state;
  std::vector<std::string> texts{""};  // behind 0, 1, … batches
  for (std::uint64_t batch = 0; batch < 200; ++batch) {
    journal.deliver(delta_of(batch), static_cast<std::int64_t>(batch / 10));
    apply(delta_of(batch), &state);
    texts.push_back(encode_state(state));
    if (batch % 5 == 2) journal.settle();  // sooner or later: nobody can tell
    for (int back = 0; back <= PositionJournal::kKept + 2; ++back) {
      const Result<Position> position = journal.position(back);
      if (back > PositionJournal::kKept || static_cast<std::size_t>(back) >= texts.size()) {
        ASSERT_EQ(position.status().code(), StatusCode::kInvalidArgument);
        continue;
      }
      const std::size_t batches = texts.size() - 1 - static_cast<std::size_t>(back);
      ASSERT_TRUE(position.ok());
      ASSERT_EQ(position->batches, static_cast<std::int64_t>(batches));
      ASSERT_EQ(position->epoch, batches == 0 ? 0 : static_cast<std::int64_t>((batches - 1) / 10));
      ASSERT_EQ(position->data, texts[batches]) << "batch " << batch << ", " << back << " back";
    }
  }
  EXPECT_EQ(journal.position(-1).status().code(), StatusCode::kInvalidArgument);
}

TEST(PositionJournal, GoesOnBehindARestoredPosition) {
  DecodedState state;
  for (std::uint64_t batch = 0; batch < 70; ++batch) apply(delta_of(batch), &state);
  PositionJournal journal(state, 70, 7);
  const Result<Position> restored = journal.position(0);
  ASSERT_TRUE(restored.ok());
  EXPECT_EQ(restored->batches, 70);
  EXPECT_EQ(restored->epoch, 7);
  EXPECT_EQ(restored->data, encode_state(state));
  EXPECT_FALSE(journal.position(1).ok()) << "what was before is not known";

  journal.deliver(delta_of(70), 8);
  apply(delta_of(70), &state);
  EXPECT_EQ(journal.position(0)->data, encode_state(state));
  EXPECT_EQ(journal.position(1)->data, restored->data);
}

TEST(PositionJournal, EndOfSlotsCutsTheList) {
  DecodedState state;
  apply({.words = {}, .slots = {{1, 3, {0, 3, 0}}, {1, 2, {.shard = kEndOfSlots}}, {1, 9, {.shard = kEndOfSlots}}}},
        &state);
  ASSERT_EQ(state.slots[1].size(), 2U);
  EXPECT_EQ(state.slots[1][1].ordinal, 0U);
}

}  // namespace
}  // namespace headrace::testing
