#include "runtime/status_page.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/run_folder.h"
#include "support/temporary_folder.h"

namespace headrace {
namespace {

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(StatusPage, IsAFileAsLongAsItLives) {
  const TemporaryFolder folder;
  {
    StatusPage page(folder.path(), "train-*", 3, 2);
    ASSERT_EQ(std::filesystem::path(page.path()).parent_path(), folder.path());
    page.add_stage("read")->add(7, 70);
    std::ifstream file(page.path(), std::ios::binary);
    std::string bytes(4096, 0);
    ASSERT_TRUE(file.read(bytes.data(), 4096));
    EXPECT_EQ(bytes.substr(0, 8), "HRSTATUS");
    EXPECT_NE(bytes.find("train-*"), std::string::npos);
    EXPECT_NE(bytes.find("read"), std::string::npos);
    const StatusPage second(folder.path(), "other", 1, 1);
    EXPECT_EQ(files_in(folder.path()), 2U);
  }
  EXPECT_EQ(files_in(folder.path()), 0U);
}

TEST(StatusPage, WithoutAFolderItIsMemory) {
  for (const char* folder : {"", "/proc/nowhere"}) {
    StatusPage page(folder, "x", 1, 1);
    EXPECT_EQ(page.path(), "");
    page.add_stage("read")->add(1, 2);
    EXPECT_EQ(page.stages().at(0).probe->records.load(), 1);
  }
}

TEST(StatusPage, StagesBeyondItsRoomAreCountedAllTheSame) {
  const TemporaryFolder folder;
  StatusPage page(folder.path(), std::string(1000, 'n'), 1, 1);
  EXPECT_EQ(std::string(page.words().name.data()).size(), 255U);
  std::vector<StageProbe*> probes;
  for (int i = 0; i < 30; ++i) probes.push_back(page.add_stage("stage " + std::to_string(i)));
  for (int i = 0; i < 30; ++i) probes[static_cast<std::size_t>(i)]->add(i, 0);
  const std::vector<StatusPage::NamedProbe> stages = page.stages();
  ASSERT_EQ(stages.size(), 30U);
  for (int i = 0; i < 30; ++i) {
    const auto& [name, probe] = stages[static_cast<std::size_t>(i)];
    EXPECT_EQ(name, "stage " + std::to_string(i));
    EXPECT_EQ(probe->records.load(), i);
  }
  EXPECT_EQ(page.words().stages.load(), StatusWords::kStages);
}

TEST(StatusPage, AChildLeavesTheFile) {
  const TemporaryFolder folder;
  auto page = std::make_unique<StatusPage>(folder.path(), "x", 1, 1);
  const pid_t child = fork();
  if (child == 0) {
    page.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WaitHistogram, ALimitBelongsToItsRange) {
  WaitHistogram waits;
  for (const std::int64_t ns :
       {std::int64_t{0}, std::int64_t{50'000}, std::int64_t{50'001}, std::int64_t{100'000}, std::int64_t{1} << 40})
    waits.add(ns);
  EXPECT_EQ(waits.counts[0].load(), 2);
  EXPECT_EQ(waits.counts[1].load(), 2);
  EXPECT_EQ(waits.counts[WaitHistogram::kBuckets - 1].load(), 1);
  EXPECT_EQ(wait_limits_ns().back(), 819'200'000);
}

TEST(WaitMeter, CountsOneWaitInSeveralPieces) {
  StatusPage page("", "x", 1, 1);
  WaitMeter meter(&page, 0);
  meter.begin();
  const std::int64_t since = page.words().replica[0].waiting_since_ns.load();
  EXPECT_GT(since, 0);
  meter.begin();
  EXPECT_EQ(page.words().replica[0].waiting_since_ns.load(), since);
  meter.end(true);
  meter.begin();
  meter.end(false);
  EXPECT_EQ(page.words().replica[0].batches.load(), 1);
  WaitMeter beyond(&page, 1000);
  beyond.begin();
  beyond.end(true);
  EXPECT_EQ(page.words().waits.counts[0].load(), 2);
}

TEST(RunFolder, OnlyPagesOfProcessesThatAreGoneAreSwept) {
  const TemporaryFolder folder;
  const StatusPage mine(folder.path(), "x", 1, 1);
  const std::int64_t start = *process_start(getpid());
  const auto make = [&folder](const std::string& name) { std::ofstream(folder.file(name)) << "x"; };
  make(std::to_string(getpid()) + "-" + std::to_string(start + 1) + "-0.status");  // an earlier process of this number
  make("4194305-1-0.status");                                                      // no process has it
  make("notes.txt");
  make("1-.status");
  sweep_run_folder(folder.path());
  EXPECT_TRUE(std::filesystem::exists(mine.path()));
  EXPECT_EQ(files_in(folder.path()), 3U);
}

TEST(RunFolder, IsTheUsersAlone) {
  const TemporaryFolder session;
  ::setenv("XDG_RUNTIME_DIR", session.path().c_str(), 1);
  EXPECT_EQ(run_folder(), session.path() + "/headrace");
  ::chmod((session.path() + "/headrace").c_str(), 0777);
  EXPECT_NE(run_folder(), session.path() + "/headrace") << "somebody else could write there";
  ::setenv("XDG_RUNTIME_DIR", "relative", 1);
  EXPECT_EQ(run_folder().substr(0, 5), "/tmp/");
  ::unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace
}  // namespace headrace
