#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tools/doctor/host_checks.h"

namespace banyan {
namespace {

// A kernel's files in a directory.
class HostFactsTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  const std::string root_ = ::testing::TempDir() + "/host_facts";
};

TEST_F(HostFactsTest, ReadsTheKernelsFiles) {
  Write("/proc/sys/net/ipv4/tcp_congestion_control", "cubic\n");
  Write("/proc/sys/net/ipv4/tcp_available_congestion_control", "reno cubic bbr\n");
  Write("/proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304\n");
  Write("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
  Write("/proc/sys/net/ipv4/tcp_mtu_probing", "1\n");
  Write("/proc/sys/vm/max_map_count", "65530\n");
  Write("/proc/meminfo", "MemTotal:  200 kB\nMemAvailable:  100 kB\n");
  Write("/proc/net/if_inet6", "0000 01 80 10 80 lo\n");
  const HostFacts facts = ReadHostFacts(root_);
  EXPECT_EQ(facts.congestion_control, "cubic");
  EXPECT_EQ(facts.congestion_controls, (std::set<std::string>{"bbr", "cubic", "reno"}));
  EXPECT_EQ(facts.most_send_buffer_bytes, 4194304);
  EXPECT_EQ(facts.most_receive_buffer_bytes, 6291456);
  EXPECT_EQ(facts.mtu_probing, 1);
  EXPECT_EQ(facts.mappings, 65530);
  EXPECT_EQ(facts.available_memory_bytes, 102400);
  EXPECT_TRUE(facts.has_ipv6);
  EXPECT_GT(facts.descriptors, 0);
}

TEST_F(HostFactsTest, TheLeastLimitOfAllControlGroupsCounts) {
  Write("/proc/self/cgroup", "0::/a/b\n");
  Write("/sys/fs/cgroup/a/memory.max", "1000\n");
  Write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(ReadHostFacts(root_).memory_limit_bytes, 1000);
  Write("/sys/fs/cgroup/a/b/memory.max", "500\n");
  EXPECT_EQ(ReadHostFacts(root_).memory_limit_bytes, 500);
}

TEST_F(HostFactsTest, WhatIsNotThereIsUnknown) {
  Write("/proc/meminfo", "MemAvailable:");
  Write("/proc/sys/net/ipv4/tcp_wmem", "4096 x\n");
  const HostFacts facts = ReadHostFacts(root_);
  EXPECT_EQ(facts.congestion_control, "");
  EXPECT_EQ(facts.most_send_buffer_bytes, std::nullopt);
  EXPECT_EQ(facts.available_memory_bytes, std::nullopt);
  EXPECT_EQ(facts.memory_limit_bytes, std::nullopt);
  EXPECT_FALSE(facts.has_ipv6);
}

TEST(ThisHostTest, IsKnown) {
  const HostFacts facts = ReadHostFacts("");
  EXPECT_NE(facts.congestion_control, "");
  EXPECT_GT(facts.available_memory_bytes, 0);
}

}  // namespace
}  // namespace banyan
