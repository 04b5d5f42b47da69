// The life of an emulated WAN: starting, running programs in it, and every way of ending. Skipped where the system lets
// nobody make namespaces or TUN devices.
#include "wan/emulator.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "wan/node_exec.h"
#include "wan/testing/testing_traffic.h"
#include "wan/testing/testing_wan.h"
#include "wan/wan_processes.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uid_t kNobody = 65534;

class EmulatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    wan_.options.view = TestingView(3, {{1, 2, 100, 1}, {2, 3, 100, 1}});
    const absl::Status status = wan_.Start();
    if (IsForbidden(status)) GTEST_SKIP() << status.message();
    ASSERT_TRUE(status.ok()) << status;
  }

  void KillForwarder() {
    const auto pid = static_cast<pid_t>(wan_.Status().pid);
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    // It is this process's child.
    ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  }

  TestingWan wan_;
};

// The child's wait status.
int RunChild(const std::function<int()>& run) {
  const pid_t pid = fork();
  if (pid == 0) _exit(run());
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

int ExitCodeIn(const std::string& directory, const std::string& node, const std::string& script) {
  const int status = RunChild([&] { return ExecInNode(directory, node, {"sh", "-c", script}).ok() ? 0 : 99; });
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool HasDevice(const FileDescriptor& place) {
  unsigned index = 0;
  std::thread([&] {
    if (setns(place.get(), CLONE_NEWNET) == 0) index = if_nametoindex("wan0");
  }).join();
  return index != 0;
}

std::vector<std::string> OwnDevices() {
  std::vector<std::string> names;
  struct if_nameindex* const all = if_nameindex();
  for (const struct if_nameindex* one = all; one->if_index != 0; ++one) names.emplace_back(one->if_name);
  if_freenameindex(all);
  return names;
}

TEST_F(EmulatorTest, ProgramsRunInNodes) {
  const std::string& directory = wan_.options.directory;
  EXPECT_EQ(ExitCodeIn(directory, "n2", "grep -q wan0 /proc/net/dev"), 0);
  EXPECT_EQ(ExitCodeIn(directory, "n2", "test $BANYAN_WAN_NODE:$BANYAN_WAN_ADDRESS = n2:10.99.0.2"), 0);
  EXPECT_EQ(ExitCodeIn(directory, "n2", "exit 7"), 7);
  EXPECT_EQ(ExitCodeIn(directory, "10.99.0.3", "test $BANYAN_WAN_NODE = n3 && grep -q '10.99.0.1 n1' /etc/hosts"), 0);
  EXPECT_THAT(std::string(ExecInNode(directory, "n4", {"true"}).message()), HasSubstr("unknown node 'n4'; "));
}

TEST_F(EmulatorTest, PacketsReachEveryNodeAndAreCounted) {
  EXPECT_GE(MedianRoundTrip(wan_.client(), "n1", "n3", 5), absl::Milliseconds(4));
  const WanStatus status = wan_.Status();
  EXPECT_EQ(status.nodes.size(), 3u);
  EXPECT_EQ(status.links.size(), 4u);
  EXPECT_EQ(status.FindLink("n2", "n3")->packets, 5);
  EXPECT_EQ(status.FindLink("n3", "n2")->bytes, 5 * 29);
}

TEST_F(EmulatorTest, RatesChangeByRequest) {
  EXPECT_TRUE(wan_.client().SetRate("n1", "n2", 12.5e6).ok());
  EXPECT_EQ(wan_.Status().FindLink("n1", "n2")->mbps, 12.5);
  EXPECT_EQ(wan_.Status().FindLink("n2", "n1")->mbps, 100);
  EXPECT_THAT(std::string(wan_.client().SetRate("n1", "n3", 1).message()), HasSubstr("no link from n1 to n3"));
  EXPECT_THAT(std::string(wan_.client().SetRate("n1", "n2", 0).message()), HasSubstr("above 0"));
}

TEST_F(EmulatorTest, LinksAreCutAndHealedByRequest) {
  EXPECT_TRUE(wan_.client().Cut("n1", "n2").ok());
  EXPECT_TRUE(wan_.Status().FindLink("n1", "n2")->is_cut);
  EXPECT_FALSE(wan_.Status().FindLink("n2", "n1")->is_cut);
  EXPECT_TRUE(wan_.client().Heal("n1", "n2").ok());
  EXPECT_FALSE(wan_.Status().FindLink("n1", "n2")->is_cut);
  EXPECT_THAT(std::string(wan_.client().Cut("n1", "n3").message()), HasSubstr("no link from n1 to n3"));
  EXPECT_THAT(std::string(wan_.client().Heal("n1", "n9").message()), HasSubstr("unknown node 'n9'"));
}

TEST_F(EmulatorTest, StartingTwiceNamesTheOneThatRuns) {
  EXPECT_THAT(std::string(wan_.Start().message()),
              AllOf(HasSubstr("test.yaml"), HasSubstr(absl::StrCat(wan_.Status().pid)), HasSubstr("banyan wan down")));
  EXPECT_TRUE(wan_.client().Status().ok());
}

TEST_F(EmulatorTest, ItKeepsNothingOpenOfWhoeverStartedIt) {
  EXPECT_TRUE(wan_.Stop().ok());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_TRUE(wan_.Start().ok());
  close(ends[1]);
  pollfd closed = {ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&closed, 1, 0), 1);
  close(ends[0]);
}

TEST_F(EmulatorTest, StoppingEndsWhatRunsInNodesAndLeavesNothing) {
  const std::vector<std::string> devices = OwnDevices();
  const std::string id = wan_.Status().id;
  const pid_t child = fork();
  if (child == 0) _exit(ExecInNode(wan_.options.directory, "n1", {"sleep", "100"}).ok() ? 0 : 1);
  while (FindWanProcesses(id).empty()) sched_yield();
  EXPECT_TRUE(wan_.Stop().ok());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_NE(access(wan_.options.directory.c_str(), F_OK), 0);
  EXPECT_THAT(std::string(wan_.client().Status().status().message()), HasSubstr("no emulated WAN runs"));
  EXPECT_EQ(OwnDevices(), devices);
  EXPECT_TRUE(wan_.Stop().ok());
}

TEST_F(EmulatorTest, AStoppedForwarderIsKilledInTheEnd) {
  const auto pid = static_cast<pid_t>(wan_.Status().pid);
  ASSERT_EQ(kill(pid, SIGSTOP), 0);
  EXPECT_THAT(std::string(wan_.client().Status().status().message()), HasSubstr("runs but does not answer"));
  EXPECT_TRUE(wan_.Stop().ok());
  EXPECT_NE(access(wan_.options.directory.c_str(), F_OK), 0);
}

TEST_F(EmulatorTest, AKilledForwarderTakesItsDevicesAlong) {
  const absl::StatusOr<FileDescriptor> place = wan_.client().OpenNamespace("n1");
  ASSERT_TRUE(place.ok());
  EXPECT_TRUE(HasDevice(*place));
  KillForwarder();
  EXPECT_FALSE(HasDevice(*place));
  EXPECT_THAT(std::string(wan_.client().Status().status().message()),
              AllOf(HasSubstr("has died"), HasSubstr("banyan wan down")));
  EXPECT_THAT(std::string(wan_.Start().message()), HasSubstr("has died"));
  EXPECT_TRUE(wan_.Stop().ok());
  EXPECT_NE(access(wan_.options.directory.c_str(), F_OK), 0);
  EXPECT_TRUE(wan_.Start().ok());
}

TEST_F(EmulatorTest, WhatRanInNodesOfAKilledForwarderIsEndedToo) {
  const std::string id = wan_.Status().id;
  const pid_t child = fork();
  if (child == 0) _exit(ExecInNode(wan_.options.directory, "n1", {"sleep", "100"}).ok() ? 0 : 1);
  while (FindWanProcesses(id).empty()) sched_yield();
  KillForwarder();
  EXPECT_TRUE(wan_.Stop().ok());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(EmulatorTest, WhatTheKernelLacksIsSaid) {
  TestingWan other;
  other.options.view = wan_.options.view;
  other.options.tun_path = "/dev/net/no-such-device";
  EXPECT_THAT(std::string(other.Start().message()), HasSubstr("modprobe tun"));
  other.options.tun_path = "/dev/net/tun";
  other.options.congestion = "nonsense";
  EXPECT_THAT(std::string(other.Start().message()), HasSubstr("tcp_available_congestion_control"));
  EXPECT_NE(access(other.options.directory.c_str(), F_OK), 0);
}

// Becomes nobody, and starts, uses and stops an emulated WAN.
int RunUnprivileged(TestingWan& wan) {
  if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0) return 1;
  if (setresuid(kNobody, kNobody, kNobody) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0) return 2;
  const absl::Status started = StartEmulatorInBackground(wan.options);
  if (!started.ok()) {
    fprintf(stderr, "%s\n", std::string(started.message()).c_str());
    return IsForbidden(started) ? 77 : 3;
  }
  const int code = ExitCodeIn(wan.options.directory, "n1", "grep -q wan0 /proc/net/dev");
  return wan.Stop().ok() ? code : 4;
}

TEST_F(EmulatorTest, WithoutRootItRunsInAUserNamespace) {
  TestingWan other;
  const std::string folder = other.options.directory.substr(0, other.options.directory.rfind('/'));
  other.options.view = wan_.options.view;
  other.options.tun_path = folder + "/tun";
  // The machine's own device may be root's alone; this is another name of it.
  if (chown(folder.c_str(), kNobody, kNobody) != 0 ||
      mknod(other.options.tun_path.c_str(), S_IFCHR | 0666, makedev(10, 200)) != 0 ||
      chmod(other.options.tun_path.c_str(), 0666) != 0) {
    GTEST_SKIP() << "only root can become somebody else; without root the other tests have shown it";
  }
  const int status = RunChild([&] { return RunUnprivileged(other); });
  unlink(other.options.tun_path.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "the system forbids it to users, see above";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace banyan
