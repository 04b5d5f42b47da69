#include <memory>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/port_reservation.h"
#include "runtime/protocol_host.h"
#include "runtime/testing/testing_protocol.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/view/recording.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class StatusCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return StatusCommand(arguments, out_, err_); }

  // Asks a scheduler that gives this answer.
  int RunWith(const JobStatus& status, std::vector<std::string> arguments) {
    absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create({.name = "scheduler"});
    EXPECT_TRUE(host.ok()) << host.status();
    auto scheduler = std::make_unique<TestingProtocol>();
    scheduler->on_message = [&status](MessageReceived& received, Actions& actions) {
      TestingProtocol::Add(actions, Send{received.connection, StatusReply{status}, {}});
    };
    std::thread thread([&] { EXPECT_EQ((*host)->Run(std::move(scheduler)), absl::OkStatus()); });
    arguments.insert(arguments.end(), {"--scheduler", (*host)->bound_address()});
    const int code = Run(arguments);
    (*host)->RequestStop();
    thread.join();
    return code;
  }

  std::ostringstream out_, err_;
};

JobStatus StatusOf(const std::string& state) {
  JobStatus status;
  status.job = "j";
  status.state = state;
  status.epoch = 1;
  return status;
}

TEST_F(StatusCommandTest, ExitCodeTellsOfAFailedJob) {
  JobStatus failed = StatusOf("failed");
  failed.error = "n2 is lost";
  EXPECT_EQ(RunWith(failed, {}), kExitFaultFound);
  EXPECT_THAT(out_.str(), HasSubstr("job j: failed, epoch 1, policy 0\nerror: n2 is lost\n"));
  EXPECT_EQ(RunWith(failed, {"--json"}), kExitFaultFound);
  EXPECT_THAT(out_.str(), HasSubstr(StatusJson(failed) + "\n"));
  EXPECT_EQ(RunWith(StatusOf("running"), {}), 0);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(StatusCommandTest, RecordsWhatIsAnswered) {
  const std::string path = ::testing::TempDir() + "/status_recording";
  // A standard output that takes nothing ends it after the first answer.
  out_.setstate(std::ios::badbit);
  EXPECT_EQ(RunWith(StatusOf("running"), {"--watch", "--record", path}), 0);
  const absl::StatusOr<Recording> recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(*recording->Read(0), StatusJson(StatusOf("running")));
  EXPECT_GT(recording->from_s(), 1.7e9);
}

// One of before sends the status as text, under another number.
TEST_F(StatusCommandTest, SaysThatTheSchedulerIsOfAnotherVersion) {
  EXPECT_EQ(RunWith(JobStatus(), {"--watch"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("the scheduler is of another version of Banyan than this command"));
  EXPECT_THAT(err_.str(), HasSubstr("ask again with the `banyan` that is installed where the scheduler runs"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(StatusCommandTest, SaysThatNobodyAnswers) {
  absl::StatusOr<PortReservation> port = PortReservation::Take(1);
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ(Run({"--scheduler", port->Address(0), "--timeout", "0.2"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("within 200ms"));
}

}  // namespace
}  // namespace banyan
