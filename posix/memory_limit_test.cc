#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "posix/process_limits.h"

namespace banyan {
namespace {

class MemoryLimitTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/limit_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_;
};

TEST_F(MemoryLimitTest, KnowsNothingWhereNothingIsSaid) { EXPECT_FALSE(FindMemoryLimit(root_).has_value()); }

TEST_F(MemoryLimitTest, WithoutALimitItIsTheMachines) {
  Write("/proc/meminfo", "MemTotal:       1000 kB\nMemFree:         10 kB\nSwapTotal:       24 kB\n");
  Write("/proc/self/cgroup", "0::/user.slice\n");
  Write("/sys/fs/cgroup/user.slice/memory.max", "max\n");
  const std::optional<MemoryLimit> limit = FindMemoryLimit(root_);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, 1024 * 1024);
  EXPECT_EQ(limit->source, "the memory of this machine");
}

TEST_F(MemoryLimitTest, TheLeastOfAllGroupsAroundCounts) {
  Write("/proc/meminfo", "MemTotal:  1000000 kB\nSwapTotal:  10 kB\n");
  Write("/proc/self/cgroup", "0::/pods/pod7/main\n");
  Write("/sys/fs/cgroup/pods/pod7/main/memory.max", "max\n");
  Write("/sys/fs/cgroup/pods/pod7/memory.max", "300000000\n");
  Write("/sys/fs/cgroup/pods/pod7/memory.swap.max", "0\n");
  Write("/sys/fs/cgroup/pods/memory.max", "400000000\n");
  const std::optional<MemoryLimit> limit = FindMemoryLimit(root_);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, 300000000);
  EXPECT_EQ(limit->source, "memory.max of cgroup /pods/pod7");
}

TEST_F(MemoryLimitTest, AContainerIsInTheRootOfItsOwn) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/memory.max", "5000\n");
  const std::optional<MemoryLimit> limit = FindMemoryLimit(root_);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, 5000);
  EXPECT_EQ(limit->source, "memory.max of cgroup /");
}

TEST_F(MemoryLimitTest, TheOlderFormIsReadToo) {
  Write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b\n0::/c\n");
  Write("/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "7000\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const std::optional<MemoryLimit> limit = FindMemoryLimit(root_);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, 7000);
}

TEST_F(MemoryLimitTest, TheAddressSpaceOfAProcessIsALimitToo) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer has an address space of terabytes";
#endif
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit least = {.rlim_cur = rlim_t{100} << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &least), 0);
  const std::optional<MemoryLimit> limit = FindMemoryLimit();
  const absl::Status none_left = OutOfMemory();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_TRUE(limit.has_value());
  EXPECT_LE(limit->bytes, int64_t{100} << 20);
  EXPECT_TRUE(absl::IsResourceExhausted(none_left));
  EXPECT_NE(none_left.message().find(std::to_string(limit->bytes)), absl::string_view::npos) << none_left;
}

}  // namespace
}  // namespace banyan
