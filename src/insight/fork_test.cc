// A child of fork() gets the handles of its parent, and locks that threads it does not have may hold.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "headrace/report.h"
#include "headrace/trace.h"
#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

// The exit code of `body` in a child; -1 when it hangs or crashes.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int told(const Status& status) { return status.code() == StatusCode::kCancelled ? 0 : 1; }

TEST(Fork, TheChildIsToldAndTouchesNoLock) {
  const TemporaryFolder folder;
  const Dataset dataset =
      TFRecordDataset({write_shards(folder, {10, 10}), true}).repeat().batch({.size = 4}).parse(full_schema());
  Result<Pipeline> pipeline = dataset.open();
  ASSERT_TRUE(pipeline.ok());
  Result<std::optional<Batch>> kept = pipeline->next();
  ASSERT_TRUE(kept.ok() && *kept);

  // Two threads of the parent are inside the pipeline's locks most of the time.
  std::atomic<bool> stop{false};
  std::thread observer([&] {
    while (!stop) EXPECT_TRUE(report(*pipeline).ok() && pipeline->position().ok());
  });
  std::thread consumer([&] {
    while (!stop) EXPECT_TRUE(pipeline->next().ok());
  });
  for (int round = 0; round < 30; ++round) {
    const int failures = in_child([&] {
      int failed = told(pipeline->next().status()) + told(pipeline->next_slice(0).status()) +
                   told(pipeline->position().status()) + told(report(*pipeline).status()) +
                   told(write_trace(*pipeline, folder.file("trace.json")));
      pipeline->close();
      failed += kept->value().replicas[0].rows != 4;
      kept->reset();                               // the memory of a batch
      const Pipeline ends = *std::move(pipeline);  // and a pipeline go away
      return failed;
    });
    ASSERT_EQ(failures, 0) << "round " << round;
  }
  stop = true;
  observer.join();
  consumer.join();
  EXPECT_EQ((*kept)->replicas[0].rows, 4);
}

}  // namespace
}  // namespace headrace
