#include "tensor/slice_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/row_ranges.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;

TEST(SliceLayout, SmallPartsShareOneBuffer) {
  const std::size_t parts[] = {8, 256, 0, 65535, 65536, 4};
  const SliceLayout layout = make_slice_layout(parts);
  EXPECT_THAT(layout.buffer_bytes, ElementsAre(256 + 256 + 65536 + 4, 65536));
  const std::size_t offsets[] = {0, 256, 512, 512, 0, 512 + 65536};
  const std::size_t buffers[] = {0, 0, 0, 0, 1, 0};
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    EXPECT_EQ(layout.parts.at(i).offset, offsets[i]) << i;
    EXPECT_EQ(layout.parts.at(i).buffer, buffers[i]) << i;
  }
}

TEST(SliceLayout, PartsAreAlignedAndApart) {
  BufferPool pool;
  const std::size_t sizes[] = {1, 300, 70000, 0, 40};
  const auto parts = allocate_parts(sizes, pool);
  ASSERT_TRUE(parts.ok());
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    const PlacedPart& part = parts->at(i);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data) % kColumnAlignment, 0U);
    EXPECT_LE(part.data + sizes[i], part.buffer->data() + part.buffer->size());
    if (i > 0 && part.buffer == parts->at(i - 1).buffer) {
      EXPECT_GE(part.data, parts->at(i - 1).data + sizes[i - 1]);
    }
  }
}

TEST(SliceLayout, NoMemoryIsAFailure) {
  BufferPool pool;
  const std::size_t sizes[] = {8, std::size_t{1} << 62};
  EXPECT_EQ(allocate_parts(sizes, pool).status().code(), StatusCode::kResourceExhausted);
}

struct Cut {
  int replica;
  std::int64_t begin, end, local_begin;
};
void expect_segments(const RowRanges& ranges, int task, std::initializer_list<Cut> expected) {
  const auto found = ranges.segments_of(task);
  ASSERT_EQ(found.size(), expected.size());
  std::size_t i = 0;
  for (const Cut& cut : expected) {
    EXPECT_EQ(found[i].replica, cut.replica);
    EXPECT_EQ(found[i].begin, cut.begin);
    EXPECT_EQ(found[i].end, cut.end);
    EXPECT_EQ(found[i].local_begin, cut.local_begin);
    ++i;
  }
}

TEST(RowRanges, TasksAreMultiplesOf64Rows) {
  const std::int64_t rows[] = {100, 100};
  const RowRanges ranges(rows, 64);
  ASSERT_EQ(ranges.tasks(), 4);
  expect_segments(ranges, 0, {{0, 0, 64, 0}});
  expect_segments(ranges, 1, {{0, 64, 100, 64}, {1, 100, 128, 0}});
  expect_segments(ranges, 2, {{1, 128, 192, 28}});
  expect_segments(ranges, 3, {{1, 192, 200, 92}});
  EXPECT_EQ(RowRanges(rows, 65).tasks(), 2);
}

TEST(RowRanges, SmallTasksAreAsSmallAsAskedFor) {
  const std::int64_t rows[] = {5, 4};
  const RowRanges ranges(rows, 3);
  ASSERT_EQ(ranges.tasks(), 3);
  expect_segments(ranges, 0, {{0, 0, 3, 0}});
  expect_segments(ranges, 1, {{0, 3, 5, 3}, {1, 5, 6, 0}});
  expect_segments(ranges, 2, {{1, 6, 9, 1}});
  EXPECT_EQ(RowRanges(rows, 0).tasks(), 9);
}

TEST(RowRanges, ReplicasWithoutRowsHaveNoSegment) {
  const std::int64_t rows[] = {0, 3, 0};
  const RowRanges ranges(rows, 128);
  ASSERT_EQ(ranges.tasks(), 1);
  expect_segments(ranges, 0, {{1, 0, 3, 0}});
  const std::int64_t none[] = {0, 0};
  EXPECT_EQ(RowRanges(none, 64).tasks(), 0);
}

TEST(RowRanges, TasksOfWholeReplicas) {
  const std::int64_t rows[] = {50, 0, 50, 70, 1, 0};
  const RowRanges ranges = RowRanges::of_whole_replicas(rows, 64);
  ASSERT_EQ(ranges.tasks(), 3);
  expect_segments(ranges, 0, {{0, 0, 50, 0}, {2, 50, 100, 0}});
  expect_segments(ranges, 1, {{3, 100, 170, 0}});
  expect_segments(ranges, 2, {{4, 170, 171, 0}});
  EXPECT_EQ(RowRanges::of_whole_replicas(rows, 1000).tasks(), 1);
  EXPECT_EQ(RowRanges::of_whole_replicas(rows, 1).tasks(), 4);
  const std::int64_t none[] = {0, 0};
  EXPECT_EQ(RowRanges::of_whole_replicas(none, 64).tasks(), 0);
}

}  // namespace
}  // namespace headrace
