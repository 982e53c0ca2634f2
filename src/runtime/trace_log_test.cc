#include "runtime/trace_log.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace headrace {
namespace {

TraceSpan span(std::int64_t begin_ns) { return {"work", begin_ns, 1, begin_ns, begin_ns + 1}; }

TEST(TraceLog, KeepsNothingWhileNobodyRecords) {
  EXPECT_FALSE(tracing());
  trace_span(span(1));
  ASSERT_TRUE(start_tracing());
  EXPECT_FALSE(start_tracing()) << "somebody records";
  EXPECT_TRUE(stop_tracing().empty());
  EXPECT_FALSE(tracing());
}

TEST(TraceLog, GivesSpansInOrderOfTheirBeginnings) {
  ASSERT_TRUE(start_tracing());
  for (const std::int64_t begin_ns : {5, 2, 9}) trace_span(span(begin_ns));
  const std::vector<TraceSpan> spans = stop_tracing();
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].begin_ns, 2);
  EXPECT_EQ(spans[2].begin_ns, 9);
}

TEST(TraceLog, KeepsTheLastOnes) {
  ASSERT_TRUE(start_tracing());
  constexpr auto kMost = static_cast<std::int64_t>(kMostSpans);
  for (std::int64_t i = 0; i < kMost + 10; ++i) trace_span(span(i));
  const std::vector<TraceSpan> spans = stop_tracing();
  ASSERT_EQ(spans.size(), kMostSpans);
  EXPECT_EQ(spans.front().begin_ns, 10);
  EXPECT_EQ(spans.back().begin_ns, kMost + 9);
}

TEST(TraceLog, InternedTextsAreOne) {
  EXPECT_EQ(interned("map f"), interned("map f"));
  EXPECT_STREQ(interned("map g"), "map g");
}

TEST(TraceLog, EndsInAChild) {
  ASSERT_TRUE(start_tracing());
  trace_span(span(1));
  const pid_t child = fork();
  if (child == 0) std::_Exit(!tracing() && stop_tracing().empty() && start_tracing() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(stop_tracing().size(), 1U);
}

}  // namespace
}  // namespace headrace
