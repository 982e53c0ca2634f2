// Descriptors of a process with a small limit: the oldest unused ones are given up and come back; what changed meanwhile is noticed.
#include "shard/descriptor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "shard/file.h"

namespace headrace {
namespace {

class DescriptorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "headrace-descriptor-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit_), 0);
    const rlimit small{40, limit_.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &small), 0);
  }
  void TearDown() override {
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit_), 0);
    std::filesystem::remove_all(folder_);
  }

  std::string write(int number, const std::string& text) const {
    const std::string path = folder_ + "/" + std::to_string(number);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::vector<File> open(int count) const {
    std::vector<File> files;
    for (int i = 0; i < count; ++i) {
      Result<File> file = File::open(write(i, "file " + std::to_string(i)));
      EXPECT_TRUE(file.ok()) << file.status().to_string();
      files.push_back(std::move(*file));
    }
    return files;
  }
  static Result<std::string> read(const File& file) {
    std::string text(file.size(), '\0');
    HEADRACE_ASSIGN_OR_RETURN(const std::size_t n,
                              file.read_at(reinterpret_cast<std::uint8_t*>(text.data()), text.size(), 0));
    return text.substr(0, n);
  }

  std::string folder_;
  rlimit limit_{};
};

TEST_F(DescriptorTest, HalfOfTheLimitIsEnoughForAnyNumberOfFiles) {
  const std::size_t before = Descriptor::open_count();
  {
    const std::vector<File> files = open(300);
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(*read(files[static_cast<std::size_t>(i)]), "file " + std::to_string(i));
        ASSERT_LE(Descriptor::open_count(), 20U);
      }
    }
  }
  EXPECT_EQ(Descriptor::open_count(), before);
}

TEST_F(DescriptorTest, OnesInUseStayOpenAndMoreThanTheLimitIsAFailureThatNamesIt) {
  std::vector<std::unique_ptr<Descriptor>> open;
  std::vector<Descriptor::Use> used;
  std::vector<std::string> paths;  // written before descriptors are short
  for (int i = 0; i < 50; ++i) paths.push_back(write(i, "text"));
  Status failure;
  while (failure.ok() && open.size() < paths.size()) {
    Result<std::unique_ptr<Descriptor>> next = Descriptor::open(paths[open.size()]);
    failure = next.status();
    if (!failure.ok()) break;
    open.push_back(std::move(*next));
    used.push_back(*open.back()->use());
  }
  EXPECT_GE(open.size(), 25U) << "all of the limit, when they are needed";
  EXPECT_EQ(failure.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(failure.message().find("the limit of this process is 40"), std::string::npos) << failure.to_string();
  used.clear();
  EXPECT_TRUE(Descriptor::open(paths[0]).ok());
}

TEST_F(DescriptorTest, AFileThatIsAnotherOneOrGoneIsNoticed) {
  const std::vector<File> files = open(60);
  std::filesystem::rename(write(1000, "file 0"), folder_ + "/0");
  std::filesystem::remove(folder_ + "/1");
  const Status replaced = read(files[0]).status();
  EXPECT_EQ(replaced.code(), StatusCode::kDataLoss);
  EXPECT_EQ(replaced.where().path, folder_ + "/0");
  EXPECT_EQ(read(files[1]).status().code(), StatusCode::kNotFound);
  std::filesystem::remove(folder_ + "/59");  // the last ones are still open
  EXPECT_EQ(*read(files[59]), "file 59");
}

TEST_F(DescriptorTest, AChildOfForkOpensFilesOfItsOwn) {
  const std::vector<File> files = open(30);
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<File> own = open(30);
    _exit(own.size() == 30 && *read(own[0]) == "file 0" && *read(files[29]) == "file 29" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace headrace
