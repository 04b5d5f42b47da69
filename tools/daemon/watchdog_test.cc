#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "runtime/testing/testing_protocol.h"
#include "tools/command_line.h"
#include "tools/daemon/daemon_run.h"

namespace banyan {
namespace {

// With a socket in systemd's place.
class WatchdogTest : public testing::Test {
 protected:
  WatchdogTest() : name_(absl::StrCat("@banyan-watchdog", getpid())) {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path + 1, name_.data() + 1, name_.size() - 1);
    EXPECT_EQ(bind(systemd_.get(), reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size())),
              0);
    variables_["NOTIFY_SOCKET"] = name_;
    CommandLine::SetEnvironment([this](const std::string& name) { return variables_[name]; });
  }
  ~WatchdogTest() override { CommandLine::SetEnvironment({}); }

  // What came since the last call.
  std::string Heard() {
    std::string heard;
    char bytes[64];
    for (ssize_t size = 0; (size = recv(systemd_.get(), bytes, sizeof(bytes), MSG_DONTWAIT)) > 0;) {
      heard.append(bytes, static_cast<size_t>(size)).append(";");
    }
    return heard;
  }

  const std::string name_;
  const FileDescriptor systemd_{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  std::map<std::string, std::string> variables_;
};

TEST_F(WatchdogTest, TellsSystemdTwiceWithinItsPatience) {
  variables_["WATCHDOG_USEC"] = "60000000";
  const std::unique_ptr<Protocol> core = WithWatchdog(std::make_unique<TestingProtocol>());
  const Timestamp start;
  core->Step(start, Started{});
  EXPECT_EQ(Heard(), "WATCHDOG=1;");
  EXPECT_EQ(core->NextDeadline(), start + absl::Seconds(30));
  core->Step(start + absl::Seconds(29), DeadlineReached{});
  EXPECT_EQ(Heard(), "");
  core->Step(start + absl::Seconds(31), DeadlineReached{});
  EXPECT_EQ(Heard(), "WATCHDOG=1;");
}

TEST_F(WatchdogTest, UnaskedItTellsNothing) {
  const std::unique_ptr<Protocol> core = WithWatchdog(std::make_unique<TestingProtocol>());
  core->Step(Timestamp(), Started{});
  EXPECT_EQ(Heard(), "");
  EXPECT_EQ(core->NextDeadline(), kNever);
}

}  // namespace
}  // namespace banyan
