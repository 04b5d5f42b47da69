// Pushes and pulls without copies.

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "runtime/testing/testing_session.h"

namespace banyan {
namespace {

class SharedGradientTest : public SessionTest {
 protected:
  void SetUp() override { Start({.keeps_gradients = false}); }
  void Start(const TestingNodeOptions& options) {
    StartNode(options);
    session_ = Open();
    const std::vector<float> values = {1, 2, 3};
    ASSERT_TRUE(session_->Init("w", values).Wait(kLong).ok());
    ASSERT_TRUE(session_->Init("v", values).Wait(kLong).ok());
  }

  SharedGradient Filled(float value) {
    absl::StatusOr<SharedGradient> gradient = session_->ShareGradient("w");
    EXPECT_TRUE(gradient.ok()) << gradient.status();
    std::fill(gradient->values().begin(), gradient->values().end(), value);
    return *std::move(gradient);
  }
  static std::vector<float> ResultOf(const Ticket& ticket) {
    return {ticket.shared_result().begin(), ticket.shared_result().end()};
  }

  std::unique_ptr<Session> session_;
};

INSTANTIATE_TEST_SUITE_P(BothPorts, SharedGradientTest, testing::Values(PortKind::kUnix, PortKind::kLocal), PortName);

TEST_P(SharedGradientTest, RoundsComeAndGo) {
  for (float round = 1; round <= 10; ++round) {
    SharedGradient gradient = Filled(round);
    ASSERT_EQ(gradient.values().size(), 3u);
    Ticket ticket = session_->PushPull("w", std::move(gradient));
    EXPECT_TRUE(gradient.values().empty());  // NOLINT(bugprone-use-after-move): pushed
    ASSERT_TRUE(ticket.Wait(kLong).ok());
    EXPECT_EQ(ticket.round(), static_cast<uint64_t>(round));
    EXPECT_EQ(ResultOf(ticket), std::vector<float>(3, round));
  }
}

TEST_P(SharedGradientTest, MixesWithCopies) {
  std::vector<float> result(3);
  for (float round = 1; round <= 10; ++round) {
    ASSERT_TRUE(session_->Push("w", Filled(round)).Wait(kLong).ok());
    ASSERT_TRUE(session_->Pull("w", absl::MakeSpan(result)).Wait(kLong).ok());
    EXPECT_EQ(result, std::vector<float>(3, round));
    ASSERT_TRUE(session_->Push("w", std::vector<float>(3, -round)).Wait(kLong).ok());
    Ticket pull = session_->Pull("w");
    ASSERT_TRUE(pull.Wait(kLong).ok());
    EXPECT_EQ(ResultOf(pull), std::vector<float>(3, -round));
  }
}

TEST_P(SharedGradientTest, UnusedOnesGoBack) {
  for (int i = 0; i < 10; ++i) Filled(1);
  for (int i = 0; i < 10; ++i) {
    Ticket dropped_early = session_->PushPull("w", Filled(2));
  }
  Ticket ticket = session_->PushPull("w", Filled(3));
  ASSERT_TRUE(ticket.Wait(kLong).ok());
  EXPECT_EQ(ResultOf(ticket), std::vector<float>(3, 3));
}

TEST_P(SharedGradientTest, SaysSoWhereTheWorkerWaitsForItself) {
  Ticket held = session_->PushPull("w", Filled(1));
  ASSERT_TRUE(held.Wait(kLong).ok());
  SharedGradient next = Filled(2);
  {
    Ticket refused = session_->PushPull("w", std::move(next));
    const absl::Status status = refused.Wait(kLong);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(absl::StrContains(status.message(), "destroy the ticket")) << status;
  }
  EXPECT_EQ(ResultOf(held), std::vector<float>(3, 1)) << "it was not overwritten";
  ASSERT_EQ(next.values().size(), 3u) << "what was refused is still there";
  held = Ticket();
  Ticket taken = session_->PushPull("w", std::move(next));
  ASSERT_TRUE(taken.Wait(kLong).ok());
  EXPECT_EQ(ResultOf(taken), std::vector<float>(3, 2));
}

TEST_P(SharedGradientTest, SaysSoWhereTheWorkerHoldsAllGradients) {
  SharedGradient first = Filled(3);
  SharedGradient second = Filled(4);
  const absl::StatusOr<SharedGradient> third = session_->ShareGradient("w");
  EXPECT_EQ(third.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(third.status().message(), "key w")) << third.status();
  EXPECT_EQ(session_->Push("w", std::vector<float>(3)).Wait(kLong).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(session_->Push("w", std::move(second)).Wait(kLong).ok());
}

// Nobody asks for the rounds' results, and the only room for one is held.
TEST_P(SharedGradientTest, PushesBehindAHeldResultGoOn) {
  Ticket held = session_->PushPull("w", Filled(1));
  ASSERT_TRUE(held.Wait(kLong).ok());
  for (float round = 2; round <= 5; ++round) ASSERT_TRUE(session_->Push("w", Filled(round)).Wait(kLong).ok());
  EXPECT_EQ(ResultOf(held), std::vector<float>(3, 1)) << "it was not overwritten";
  held = Ticket();
  Ticket last = session_->Pull("w");
  ASSERT_TRUE(last.Wait(kLong).ok());
  EXPECT_EQ(ResultOf(last), std::vector<float>(3, 5));
}

TEST_P(SharedGradientTest, WrongUseIsToldAtOnce) {
  EXPECT_EQ(session_->ShareGradient("unknown").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session_->Pull("unknown").Wait(kLong).code(), absl::StatusCode::kFailedPrecondition);
  SharedGradient gradient = Filled(1);
  EXPECT_EQ(session_->Push("v", std::move(gradient)).Wait(kLong).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(session_->Push("unknown", std::move(gradient)).Wait(kLong).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(session_->Push("w", std::move(gradient)).Wait(kLong).ok());
  // NOLINTNEXTLINE(bugprone-use-after-move): pushing it again is what is tried
  EXPECT_EQ(session_->Push("w", std::move(gradient)).Wait(kLong).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(SharedGradientTest, OutlivesItsSession) {
  SharedGradient gradient = Filled(1);
  Ticket ticket = session_->PushPull("w", Filled(2));
  ASSERT_TRUE(ticket.Wait(kLong).ok());
  session_.reset();
  host_.reset();
  EXPECT_EQ(ResultOf(ticket), std::vector<float>(3, 2));
  gradient.values()[0] = 5;
}

TEST_P(SharedGradientTest, TheNodesEndEndsThoseThatWait) {
  session_.reset();
  Start({.keeps_gradients = false, .hold_from = 1});
  SharedGradient held = Filled(1);
  Ticket waiting = session_->PushPull("w", Filled(2));
  std::thread ending([this] { EXPECT_TRUE(host_->Stop().ok()); });
  absl::Status status;
  while (status.ok()) status = session_->ShareGradient("w").status();  // what the node kept may come back first
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  ending.join();
  EXPECT_EQ(waiting.Wait(kLong).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(session_->PushPull("w", std::move(held)).Wait(kLong).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace banyan
