// Folders that look like the root of a system with control groups.
#include "runtime/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace headrace {
namespace {

const std::string kMount2 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
const std::string kMountCpu = "33 24 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:13 - cgroup cgroup rw,cpu,cpuacct\n";
const std::string kMountMemory = "34 24 0:30 / /sys/fs/cgroup/memory rw shared:14 - cgroup cgroup rw,memory\n";
const std::string kMountDisk = "24 1 254:0 / / rw,relatime - ext4 /dev/root rw\n";

class Cgroup : public ::testing::Test {
 protected:
  ~Cgroup() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  const std::string root_ = std::filesystem::temp_directory_path() / ("cgroup_test-" + std::to_string(getpid()));
};

TEST_F(Cgroup, ReadsCpuMax) {
  EXPECT_DOUBLE_EQ(parse_cpu_max("200000 100000\n"), 2.0);
  EXPECT_DOUBLE_EQ(parse_cpu_max("50000 100000"), 0.5);
  EXPECT_DOUBLE_EQ(parse_cpu_max("max 100000"), 0.0);
  EXPECT_DOUBLE_EQ(parse_cpu_max(""), 0.0);
  EXPECT_DOUBLE_EQ(parse_cpu_max("100000 0"), 0.0);
}

TEST_F(Cgroup, ReadsMemoryMax) {
  EXPECT_EQ(parse_memory_max("1073741824\n"), 1 << 30);
  EXPECT_EQ(parse_memory_max("max\n"), 0);
  EXPECT_EQ(parse_memory_max(""), 0);
  EXPECT_EQ(parse_memory_max("-1"), 0);
  EXPECT_EQ(parse_memory_max("9223372036854771712\n"), 0);  // version 1 without a limit
}

TEST_F(Cgroup, NoneIsNoLimit) {
  EXPECT_EQ(cgroup_limits(root_).cpus, 0);
  write("/proc/self/mountinfo", kMountDisk);
  write("/proc/self/cgroup", "");
  EXPECT_EQ(cgroup_limits(root_).cpus, 0);
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 0);
}

TEST_F(Cgroup, OfVersion2TheSmallestOfNestedGroupsCounts) {
  write("/proc/self/mountinfo", kMountDisk + kMount2);
  write("/proc/self/cgroup", "0::/job/task\n");
  write("/sys/fs/cgroup/job/task/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/job/task/memory.max", "4000000000\n");
  write("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  write("/sys/fs/cgroup/job/memory.max", "max\n");
  EXPECT_DOUBLE_EQ(cgroup_limits(root_).cpus, 1.5);
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 4'000'000'000);
  write("/sys/fs/cgroup/job/memory.max", "3000000000\n");
  write("/sys/fs/cgroup/job/task/cpu.max", "100000 200000\n");  // while the process runs
  EXPECT_DOUBLE_EQ(cgroup_limits(root_).cpus, 0.5);
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 3'000'000'000);
}

TEST_F(Cgroup, OfVersion1EveryControllerHasItsOwn) {
  write("/proc/self/mountinfo", kMountDisk + kMountCpu + kMountMemory);
  write("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/c\n");
  write("/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "300000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2000000000\n");
  EXPECT_DOUBLE_EQ(cgroup_limits(root_).cpus, 3);
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 2'000'000'000);
}

TEST_F(Cgroup, VersionsBesideEachOtherBothCount) {
  write("/proc/self/mountinfo", kMountCpu + "31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("/proc/self/cgroup", "2:cpu,cpuacct:/\n0::/x\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/unified/x/memory.max", "1000000000\n");
  EXPECT_DOUBLE_EQ(cgroup_limits(root_).cpus, 4);
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 1'000'000'000);
}

TEST_F(Cgroup, AContainerSeesItsOwnGroupAsTheRoot) {
  write("/proc/self/mountinfo", "33 24 0:29 /docker/ab12 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("/proc/self/cgroup", "4:memory:/docker/ab12\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "500000000\n");
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 500'000'000);
}

}  // namespace
}  // namespace headrace
