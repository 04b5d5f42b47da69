// What a worker sees of a node whose process is stopped or killed: nothing of it waits without end.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/node_host.h"
#include "runtime/session/session.h"
#include "runtime/testing/child_processes.h"
#include "runtime/testing/testing_node.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kLong = absl::Seconds(120);

[[noreturn]] void LiveAsANode(const std::string& socket) {
  const auto host = NodeHost::Start({.name = "n1", .worker_socket = socket}, [](const ProtocolHost&) {
    return std::make_unique<TestingNode>(TestingNodeOptions{.hold_from = 1});
  });
  while (host.ok()) pause();
  _exit(1);
}

class StoppedNodeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { children_ = std::make_unique<ChildProcesses>(LiveAsANode); }
  static void TearDownTestSuite() { children_.reset(); }

  void SetUp() override {
    std::string directory = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    const std::string socket = "unix:" + directory + "/n1";
    node_ = children_->Start(socket);
    ASSERT_GT(node_, 0);
    auto session = Session::Open({.node = socket, .open_timeout = kLong, .answer_timeout = absl::Milliseconds(500)});
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }
  void TearDown() override {
    kill(node_, SIGKILL);
    waitpid(node_, nullptr, 0);
  }

  // Returns when it is.
  void StopNode() {
    kill(node_, SIGSTOP);
    EXPECT_EQ(waitpid(node_, nullptr, WUNTRACED), node_);
  }

  static inline std::unique_ptr<ChildProcesses> children_;
  pid_t node_ = -1;
  std::unique_ptr<Session> session_;
};

TEST_F(StoppedNodeTest, InitEnds) {
  StopNode();
  const std::vector<float> values(10);
  const absl::Status status = session_->Init("w", values).Wait(kLong);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("key w, round 0: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is its process stopped?"));
  EXPECT_FALSE(session_->Push("w", values).Wait(kLong).ok());
}

TEST_F(StoppedNodeTest, CallsEndOnceThereIsNoRoomForThem) {
  StopNode();
  std::vector<Ticket> tickets;
  while (tickets.empty() || !tickets.back().done()) tickets.push_back(session_->ReportLoss(1, 0.5));
  EXPECT_THAT(tickets.back().Wait(kLong).ToString(), HasSubstr("is its process stopped?"));
  for (Ticket& ticket : tickets) EXPECT_EQ(ticket.Wait(kLong).code(), absl::StatusCode::kUnavailable);
}

TEST_F(StoppedNodeTest, TheEndOfASessionDoesNotWaitForIt) {
  std::vector<float> values(10);
  ASSERT_TRUE(session_->Init("w", values).Wait(kLong).ok());
  Ticket waiting = session_->PushPull("w", values, absl::MakeSpan(values));
  StopNode();
  session_->ReportLoss(1, 0.5);
  session_.reset();
  EXPECT_EQ(waiting.Wait(kLong).code(), absl::StatusCode::kCancelled);
}

TEST_F(StoppedNodeTest, AKilledOneEndsAllCalls) {
  std::vector<float> values(10);
  ASSERT_TRUE(session_->Init("w", values).Wait(kLong).ok());
  Ticket waiting = session_->PushPull("w", values, absl::MakeSpan(values));
  kill(node_, SIGKILL);
  EXPECT_EQ(waiting.Wait(kLong).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(session_->Init("v", values).Wait(kLong).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace banyan
