// The command `banyan wan` as a user types it. Skipped where the system lets nobody make namespaces or TUN devices.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "posix/child_process.h"
#include "posix/file_descriptor.h"
#include "posix/work_directory.h"
#include "wan/wan_client.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr char kOverlay[] =
    "nodes: [{name: n1}, {name: n2}]\nlinks: [{between: [n1, n2], mbps: [100, 20], delay_ms: 3}]\n";

// Until the forwarder of the directory has gone.
void AwaitUnlock(const std::string& directory) {
  const FileDescriptor lock(open(absl::StrCat(directory, "/lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(lock.valid());
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(lock.get(), F_OFD_SETLKW, &whole), 0);
}

struct Outcome {
  std::string failure;  // empty: exit code 0
  std::string out;
  std::string err;
};

class WanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = *WorkDirectory::Make("banyan-wan-test");
    ASSERT_TRUE(directory_->Write("overlay.yaml", kOverlay).ok());
  }

  void TearDown() override { Wan({"down"}); }

  std::string WanPath() const { return directory_->File("wan"); }

  Outcome Wan(std::vector<std::string> arguments) {
    ChildProcessOptions options;
    options.name = "banyan wan";
    options.arguments = {"tools/banyan", "wan", arguments[0], "--dir", WanPath()};
    options.arguments.insert(options.arguments.end(), arguments.begin() + 1, arguments.end());
    options.log_path = directory_->File("log");
    options.capture_output = true;
    const absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(options);
    EXPECT_TRUE(child.ok()) << child.status();
    EXPECT_TRUE((*child)->WaitUntilEnded(kPatience));
    std::ifstream log(options.log_path);
    return {(*child)->failure(), absl::StrJoin((*child)->TakeLines(), "\n"),
            std::string(std::istreambuf_iterator<char>(log), std::istreambuf_iterator<char>())};
  }

  // Whether it runs now; where the system forbids it there is nothing to test.
  bool Up() {
    const Outcome up = Wan({"up", directory_->File("overlay.yaml")});
    if (up.err.find("modprobe tun") != std::string::npos || up.err.find("may not make") != std::string::npos ||
        up.err.find("expected to be allowed") != std::string::npos) {
      return false;
    }
    EXPECT_EQ(up.failure, "") << up.err;
    return true;
  }

  std::unique_ptr<WorkDirectory> directory_;
};

TEST_F(WanTest, UpExecStatusRateDown) {
  if (!Up()) GTEST_SKIP() << "the system forbids it";
  EXPECT_THAT(Wan({"exec", "n2", "--", "cat", "/proc/net/dev"}).out, AllOf(HasSubstr("wan0:"), HasSubstr("lo:")));
  EXPECT_EQ(Wan({"exec", "n2", "--", "sh", "-c", "exit 3"}).failure, "exit code 3");
  EXPECT_EQ(Wan({"exec", "10.99.0.2", "--", "cat", "/proc/sys/kernel/hostname"}).out, "n2");
  EXPECT_EQ(Wan({"rate", "n2", "n1", "--rate", "33"}).failure, "");
  EXPECT_THAT(Wan({"status"}).out, AllOf(HasSubstr("2 nodes, 2 directed links"), HasSubstr("33.0")));
  EXPECT_THAT(Wan({"status", "--json"}).out, AllOf(HasSubstr("\"state\":\"running\""), HasSubstr("\"mbps\":33,")));
  EXPECT_EQ(Wan({"down"}).failure, "");
  EXPECT_NE(access(WanPath().c_str(), F_OK), 0);
  EXPECT_THAT(Wan({"status"}).err, HasSubstr("no emulated WAN runs"));
}

TEST_F(WanTest, LinksAreCutAndHealed) {
  if (!Up()) GTEST_SKIP() << "the system forbids it";
  EXPECT_EQ(Wan({"cut", "n1", "n2"}).failure, "");
  EXPECT_THAT(Wan({"status"}).out, HasSubstr("  cut"));
  EXPECT_THAT(Wan({"cut", "n1", "n9"}).err, HasSubstr("unknown node 'n9'"));
  EXPECT_EQ(Wan({"heal", "n1", "n2"}).failure, "");
  EXPECT_THAT(Wan({"status"}).out, Not(HasSubstr("  cut")));
}

TEST_F(WanTest, AProgramThatFailsIsStartedAgainUntilItIsDone) {
  if (!Up()) GTEST_SKIP() << "the system forbids it";
  const std::string file = directory_->File("was-here");
  const Outcome outcome = Wan({"exec", "n2", "--restart", "--", "sh", "-c",
                               absl::StrCat("[ -e ", file, " ] && exit 0; touch ", file, "; kill -9 $$")});
  EXPECT_EQ(outcome.failure, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("sh (n2) ended with signal 9 (Killed)"), HasSubstr("sh (n2) runs again")));
  EXPECT_EQ(Wan({"exec", "n2", "--restart", "--", "sh", "-c", "exit 3"}).failure, "exit code 1");
  EXPECT_EQ(Wan({"down"}).failure, "");
  EXPECT_NE(access(WanPath().c_str(), F_OK), 0);
}

TEST_F(WanTest, ChaosFindsWhatIsLookedAfterInTheNodes) {
  if (!Up()) GTEST_SKIP() << "the system forbids it";
  ChildProcessOptions options;
  options.name = "banyan wan exec";
  options.arguments = {"tools/banyan", "wan", "exec", "n1", "--dir", WanPath(), "--restart", "--", "sleep", "600"};
  options.log_path = directory_->File("exec.log");
  const std::unique_ptr<ChildProcess> supervisor = *ChildProcess::Start(options);
  options.name = "banyan chaos";
  options.arguments = {"tools/banyan", "chaos", WanPath(), "--worker-every", "500ms", "--cut-every",
                       "500ms",        "--for", "4s",      "--cut-for",      "100ms"};
  options.log_path = directory_->File("chaos.log");
  const std::unique_ptr<ChildProcess> chaos = *ChildProcess::Start(options);
  ASSERT_TRUE(chaos->WaitUntilEnded(kPatience));
  EXPECT_EQ(chaos->failure(), "");
  EXPECT_THAT(chaos->LogTail(100), AllOf(HasSubstr("kills sleep (n1)"), HasSubstr("cuts n"), HasSubstr("heals n"),
                                         HasSubstr("training process"), HasSubstr("the time is over")));
  EXPECT_THAT(supervisor->LogTail(100),
              AllOf(HasSubstr("sleep (n1) ended with signal 9"), HasSubstr("sleep (n1) runs again")));
  supervisor->Signal(SIGTERM);
  ASSERT_TRUE(supervisor->WaitUntilEnded(kPatience));
  EXPECT_EQ(supervisor->failure(), "");
  EXPECT_THAT(Wan({"status"}).out, Not(HasSubstr("  cut")));
}

TEST_F(WanTest, MistakesAreNamed) {
  ASSERT_TRUE(directory_->Write("plain.yaml", "nodes: [{name: a}, {name: b}]\nlinks:\n  - {between: [a, b]}\n").ok());
  EXPECT_THAT(Wan({"up", directory_->File("plain.yaml")}).err,
              HasSubstr("plain.yaml:3:5: the link between 'a' and 'b' has no rate"));
  EXPECT_EQ(Wan({"up", directory_->File("overlay.yaml"), "--redraw-interval", "3"}).failure, "exit code 2");
  EXPECT_EQ(Wan({"exec", "n1"}).failure, "exit code 2");
  EXPECT_EQ(Wan({"rate", "n1", "n2"}).failure, "exit code 2");
  EXPECT_THAT(Wan({"exec", "n1", "--", "true"}).err, HasSubstr("banyan wan up"));
  if (!Up()) GTEST_SKIP() << "the system forbids it";
  EXPECT_THAT(Wan({"up", directory_->File("overlay.yaml")}).err,
              AllOf(HasSubstr("runs already"), HasSubstr("overlay.yaml"), HasSubstr("banyan wan down")));
  EXPECT_THAT(Wan({"exec", "n3", "--", "true"}).err, HasSubstr("unknown node 'n3'; did you mean"));
  EXPECT_THAT(Wan({"exec", "n1", "--", "no-such-program"}).err, HasSubstr("cannot run no-such-program"));
}

TEST_F(WanTest, DownAfterKillLeavesNothing) {
  if (!Up()) GTEST_SKIP() << "the system forbids it";
  const absl::StatusOr<WanStatus> status = WanClient(WanPath()).Status();
  ASSERT_TRUE(status.ok()) << status.status();
  ASSERT_EQ(kill(static_cast<pid_t>(status->pid), SIGKILL), 0);
  AwaitUnlock(WanPath());
  const Outcome dead = Wan({"status", "--json"});
  EXPECT_THAT(dead.err, AllOf(HasSubstr("has died"), HasSubstr("banyan wan down")));
  EXPECT_THAT(dead.out, HasSubstr("\"state\":\"dead\""));
  EXPECT_EQ(Wan({"down"}).failure, "");
  EXPECT_NE(access(WanPath().c_str(), F_OK), 0);
}

TEST_F(WanTest, InTheForegroundItEndsByASignal) {
  if (!Up()) GTEST_SKIP() << "the system forbids it";
  EXPECT_EQ(Wan({"down"}).failure, "");
  ChildProcessOptions options;
  options.name = "banyan wan";
  options.arguments = {"tools/banyan", "wan",   "up",     directory_->File("overlay.yaml"),
                       "--foreground", "--dir", WanPath()};
  options.log_path = directory_->File("log");
  options.capture_output = true;
  const std::unique_ptr<ChildProcess> child = *ChildProcess::Start(options);
  // It says so when it runs.
  pollfd output = {child->output_fd(), POLLIN, 0};
  ASSERT_EQ(poll(&output, 1, static_cast<int>(absl::ToInt64Milliseconds(kPatience))), 1);
  EXPECT_TRUE(WanClient(WanPath()).Status().ok());
  child->Signal(SIGTERM);
  ASSERT_TRUE(child->WaitUntilEnded(kPatience));
  EXPECT_EQ(child->failure(), "");
  EXPECT_NE(access(WanPath().c_str(), F_OK), 0);
}

}  // namespace
}  // namespace banyan
