#include "runtime/session/session.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/node_host.h"
#include "runtime/testing/testing_node.h"
#include "runtime/testing/testing_session.h"

namespace banyan {
namespace {

INSTANTIATE_TEST_SUITE_P(BothPorts, SessionTest, testing::Values(PortKind::kUnix, PortKind::kLocal), PortName);

TEST_P(SessionTest, PushesAndPullsTheSumOfAllWorkers) {
  StartNode({.workers = 2});
  auto first = Open(0);
  auto second = Open(1);
  EXPECT_EQ(first->node_name(), "n1");
  std::vector<float> values0 = {1, 2, 3};
  std::vector<float> values1 = {7, 8, 9};
  Ticket init0 = first->Init("w", values0, absl::MakeSpan(values0));
  Ticket init1 = second->Init("w", values1, absl::MakeSpan(values1));
  ASSERT_TRUE(init0.Wait(kLong).ok());
  ASSERT_TRUE(init1.Wait(kLong).ok());
  EXPECT_EQ(values1, (std::vector<float>{1, 2, 3}));
  for (int round = 1; round <= 5; ++round) {
    std::vector<float> gradient0 = {1.0f * round, 2, 3};
    const std::vector<float> gradient1 = {10, 20, 30};
    std::vector<float> result(3);
    Ticket push0 = first->PushPull("w", gradient0, absl::MakeSpan(gradient0), {.priority = 3});
    Ticket push1 = second->PushPull("w", gradient1, absl::MakeSpan(result));
    ASSERT_TRUE(push0.Wait(kLong).ok());
    ASSERT_TRUE(push1.Wait(kLong).ok());
    EXPECT_EQ(push1.round(), static_cast<uint64_t>(round));
    EXPECT_EQ(result, (std::vector<float>{10.0f + round, 22, 33}));
    EXPECT_EQ(gradient0, result);
  }
}

TEST_P(SessionTest, PushAndPullApart) {
  StartNode();
  auto session = Open();
  const std::vector<float> values = {1, 2, 3};
  std::vector<float> result(3);
  EXPECT_TRUE(session->Init("w", values).Wait(kLong).ok());
  EXPECT_TRUE(session->Pull("w", absl::MakeSpan(result)).Wait(kLong).ok());
  EXPECT_EQ(result, values);
  for (float round = 1; round <= 5; ++round) {
    const std::vector<float> gradient = {round, round, round};
    EXPECT_TRUE(session->Push("w", gradient).Wait(kLong).ok());
    EXPECT_TRUE(session->Pull("w", absl::MakeSpan(result)).Wait(kLong).ok());
    EXPECT_EQ(result, gradient);
  }
}

TEST_P(SessionTest, PushesThatNobodyPullsGoOn) {
  StartNode();
  auto session = Open();
  const std::vector<float> values = {1, 2, 3};
  EXPECT_TRUE(session->Init("w", values).Wait(kLong).ok());
  for (int round = 1; round <= 20; ++round) EXPECT_TRUE(session->Push("w", values).Wait(kLong).ok());
  std::vector<float> result(3);
  Ticket pull = session->Pull("w", absl::MakeSpan(result));
  EXPECT_TRUE(pull.Wait(kLong).ok());
  EXPECT_EQ(pull.round(), 20u);
}

TEST_P(SessionTest, APushThatWaitsForARoundThatNobodyPullsHearsOfTheJobsEnd) {
  StartNode({.workers = 2, .rounds_in_flight = 1});
  auto first = Open(0);
  auto second = Open(1);
  const std::vector<float> values = {1, 2};
  Ticket init = first->Init("w", values);
  EXPECT_TRUE(second->Init("w", values).Wait(kLong).ok());
  EXPECT_TRUE(init.Wait(kLong).ok());
  EXPECT_TRUE(first->Push("w", values).Wait(kLong).ok());
  absl::Status status;
  std::thread waiting([&] { status = first->Push("w", values).Wait(kLong); });
  Ticket open = second->Barrier();
  second.reset();  // while an operation waits: as if the worker had died
  waiting.join();
  EXPECT_EQ(status, absl::UnavailableError("node n1, key w: the job failed: node n3 was lost"));
  EXPECT_EQ(open.Wait(kLong).code(), absl::StatusCode::kCancelled);
}

TEST_P(SessionTest, AFlushIsARoundLikeAnother) {
  StartNode();
  auto session = Open();
  std::vector<float> values = {1, 2, 3};
  EXPECT_TRUE(session->Init("w", values).Wait(kLong).ok());
  EXPECT_TRUE(session->PushPull("w", values, absl::MakeSpan(values)).Wait(kLong).ok());
  std::vector<float> result(3);
  Ticket flush = session->Flush("w", values, absl::MakeSpan(result));
  EXPECT_TRUE(flush.Wait(kLong).ok());
  EXPECT_EQ(flush.round(), 2u);
  EXPECT_EQ(result, values);
}

TEST_P(SessionTest, BroadcastBarrierAndLoss) {
  StartNode({.workers = 2});
  auto first = Open(0);
  auto second = Open(1);
  std::vector<float> a = {1, 2};
  std::vector<float> b = {3, 4};
  {
    Ticket init = first->Init("w", a);
    EXPECT_TRUE(second->Init("w", b).Wait(kLong).ok());
  }
  Ticket here = first->Broadcast("w", a, absl::MakeSpan(a));
  EXPECT_TRUE(second->Broadcast("w", b, absl::MakeSpan(b)).Wait(kLong).ok());
  EXPECT_TRUE(here.Wait(kLong).ok());
  EXPECT_EQ(b, a);
  Ticket barrier = first->Barrier();
  EXPECT_EQ(barrier.Wait(absl::Milliseconds(20)).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(second->Barrier().Wait(kLong).ok());
  EXPECT_TRUE(barrier.Wait(kLong).ok());
  EXPECT_TRUE(first->ReportLoss(3, 0.5).Wait(kLong).ok());
  first.reset();
  second.reset();
  EXPECT_EQ(Detached(2), (std::vector<bool>{true, true}));
  EXPECT_TRUE(host_->Stop().ok());
}

TEST_P(SessionTest, RegistersWeightsBetweenRounds) {
  std::vector<std::vector<float>> registered;  // by the protocol thread, until the session has closed
  TestingNodeOptions options;
  options.on_weights = [&registered](absl::Span<const float> weights) {
    registered.emplace_back(weights.begin(), weights.end());
  };
  StartNode(options);
  auto session = Open();
  std::vector<float> weights = {1, 2, 3};
  Ticket init = session->Init("w", weights);
  for (float round = 1; round <= 5; ++round) {
    weights[0] = round;
    Ticket told = session->RegisterWeights("w", weights);
    weights[0] = -1;  // the call has taken its copy
    std::vector<float> gradient = {round, round, round};
    Ticket push = session->PushPull("w", gradient, absl::MakeSpan(gradient));
    EXPECT_TRUE(told.Wait(kLong).ok());
    EXPECT_EQ(told.round(), 0u);
    EXPECT_TRUE(push.Wait(kLong).ok());
    EXPECT_EQ(push.round(), static_cast<uint64_t>(round));
  }
  // Nobody waits for the last one, which is no reason to take the worker for dead.
  session->RegisterWeights("w", weights);
  session.reset();
  EXPECT_EQ(Detached(1), std::vector<bool>{true});
  ASSERT_EQ(registered.size(), 6u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(registered[i], (std::vector<float>{i + 1.0f, 2, 3}));
}

TEST_P(SessionTest, WrongWeightsAreToldAtOnce) {
  StartNode();
  auto session = Open();
  const std::vector<float> two = {1, 2};
  const std::vector<float> three = {1, 2, 3};
  EXPECT_EQ(session->RegisterWeights("w", three).Wait(kLong),
            absl::FailedPreconditionError("node n1, key w: no Init of this key came before"));
  EXPECT_TRUE(session->Init("w", three).Wait(kLong).ok());
  EXPECT_EQ(session->RegisterWeights("w", two).Wait(kLong),
            absl::InvalidArgumentError("node n1, key w: expected a weight tensor of 3 elements, as Init had, got 2"));
  EXPECT_EQ(session->RegisterWeights("w", {}).Wait(kLong).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(host_->Stop().ok());
  EXPECT_EQ(session->RegisterWeights("w", three).Wait(kLong).code(), absl::StatusCode::kUnavailable);
}

TEST_P(SessionTest, WrongUseIsToldAtOnce) {
  StartNode();
  auto session = Open();
  std::vector<float> three = {1, 2, 3};
  std::vector<float> two = {1, 2};
  const auto status = [](Ticket ticket) { return ticket.Wait(kLong); };
  const absl::Status early = status(session->PushPull("w", three, absl::MakeSpan(three)));
  EXPECT_EQ(early.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(early.message(), "node n1, key w: no Init of this key came before");
  EXPECT_EQ(status(session->Init("", three)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status(session->Init("w", three, absl::MakeSpan(two))).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(status(session->Init("w", three)).ok());
  EXPECT_EQ(status(session->Init("w", three)).code(), absl::StatusCode::kAlreadyExists);
  const absl::Status other = status(session->Init("w", two));
  EXPECT_EQ(other.message(), "node n1, key w, round 0: Init came before, with 3 elements, and now has 2");
  EXPECT_EQ(status(session->Push("w", two)).message(),
            "node n1, key w: expected a gradient of 3 elements, as Init had, got 2");
  EXPECT_EQ(status(session->Push("w", {})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status(session->PushPull("w", three, {})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status(session->Pull("w", absl::MakeSpan(two))).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(status(session->PushPull("w", three, absl::MakeSpan(three))).ok());
}

TEST_P(SessionTest, AWorkerIsThereOnlyOnceAndMustExist) {
  StartNode();
  auto session = Open();
  EXPECT_EQ(TryOpen(0).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(TryOpen(7).status().code(), absl::StatusCode::kInvalidArgument);
  const std::vector<float> values = {1};
  EXPECT_TRUE(session->Init("w", values).Wait(kLong).ok());
}

TEST_P(SessionTest, AWorkerKnowsTheMembersAndItsPlaceAmongThem) {
  constexpr int kBefore = 300;  // more than come in one message
  StartNode({.workers = 2, .nodes_before = kBefore});
  auto session = Open(1);
  const absl::StatusOr<JobNodes> members = session->Members(0, kLong);
  ASSERT_TRUE(members.ok()) << members.status();
  EXPECT_EQ(members->epoch, 1u);
  EXPECT_EQ(members->rank, 2u * kBefore + 1);
  EXPECT_EQ(members->world_size, 2u * kBefore + 2);
  ASSERT_EQ(members->nodes.size(), kBefore + 1u);
  EXPECT_EQ(members->nodes.front().name, "n-300");
  EXPECT_EQ(members->nodes.back().name, "n1");
  EXPECT_EQ(session->Members(members->epoch, absl::Milliseconds(10)).status().message(),
            "the members of the job have not changed");
  auto other = Open(0);
  EXPECT_EQ(session->Members(members->epoch, kLong)->epoch, 2u);
  session->Close();
  EXPECT_EQ(session->Members().status().code(), absl::StatusCode::kCancelled);
}

TEST_P(SessionTest, ATimeoutLeavesTheOperationRunning) {
  StartNode({.workers = 2});
  auto first = Open(0);
  auto second = Open(1);
  const std::vector<float> values = {1, 2};
  std::vector<float> result(2);
  Ticket init = first->Init("w", values);
  EXPECT_TRUE(second->Init("w", values).Wait(kLong).ok());
  EXPECT_TRUE(init.Wait(kLong).ok());
  Ticket push = first->PushPull("w", values, absl::MakeSpan(result));
  absl::Status timeout = push.Wait(absl::Milliseconds(10));
  EXPECT_EQ(timeout.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(timeout.message()),
              testing::StartsWith("node n1, key w, round 1: not done after 10ms; it goes on"));
  // The node's answer may be late for so short a wait.
  const std::string whom = "it goes on: key w waits for n9";
  while (timeout.message().find(whom) == absl::string_view::npos) timeout = push.Wait(absl::Milliseconds(10));
  EXPECT_EQ(timeout.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(push.done());
  EXPECT_TRUE(second->Push("w", values).Wait(kLong).ok());
  EXPECT_TRUE(push.Wait(kLong).ok());
  EXPECT_EQ(result, (std::vector<float>{2, 4}));
}

TEST_P(SessionTest, ACallThatFindsNoRoomInTimeSaysForWhomItWaited) {
  room_timeout_ = absl::Milliseconds(500);
  StartNode({.workers = 2});
  auto first = Open(0);
  auto second = Open(1);
  const std::vector<float> values = {1, 2};
  std::vector<float> result(2);
  Ticket init = first->Init("w", values);
  const absl::Status early = first->Push("w", values).Wait(absl::ZeroDuration());
  EXPECT_EQ(early.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(early.message()),
              testing::HasSubstr("key w: the key's Init was not done after 500ms; it was not started"));
  EXPECT_TRUE(second->Init("w", values).Wait(kLong).ok());
  EXPECT_TRUE(init.Wait(kLong).ok());
  EXPECT_TRUE(first->Push("w", values).Wait(kLong).ok());
  const std::string late(first->PushPull("w", values, absl::MakeSpan(result)).Wait(kLong).message());
  EXPECT_THAT(late, testing::StartsWith("node n1, key w: no room for this call after 500ms; it was not started"));
  EXPECT_THAT(late, testing::HasSubstr(": key w waits for n9"));
  // Nothing has happened to the round.
  EXPECT_TRUE(second->Push("w", values).Wait(kLong).ok());
  EXPECT_TRUE(first->Pull("w", absl::MakeSpan(result)).Wait(kLong).ok());
  EXPECT_EQ(result, (std::vector<float>{2, 4}));
  Ticket next = first->PushPull("w", values, absl::MakeSpan(result));
  EXPECT_TRUE(second->Push("w", values).Wait(kLong).ok());
  EXPECT_TRUE(next.Wait(kLong).ok());
  EXPECT_EQ(next.round(), 2u);
}

TEST_P(SessionTest, ATicketThatGoesGivesItsMemoryUp) {
  StartNode({.workers = 2});
  auto first = Open(0);
  auto second = Open(1);
  const std::vector<float> values = {1, 2};
  Ticket init = first->Init("w", values);
  EXPECT_TRUE(second->Init("w", values).Wait(kLong).ok());
  EXPECT_TRUE(init.Wait(kLong).ok());
  std::vector<float> given_up(2);
  // If it waited for the other worker, it would do so for ever.
  {
    Ticket ticket = first->PushPull("w", values, absl::MakeSpan(given_up));
    EXPECT_EQ(ticket.Wait(absl::Milliseconds(1)).code(), absl::StatusCode::kDeadlineExceeded);
  }
  // The operation went on, and its callers know that from the next ones.
  std::vector<float> result(2);
  EXPECT_TRUE(second->Push("w", values).Wait(kLong).ok());
  EXPECT_TRUE(first->Pull("w", absl::MakeSpan(result)).Wait(kLong).ok());
  EXPECT_EQ(result, (std::vector<float>{2, 4}));
  EXPECT_EQ(given_up, std::vector<float>(2));
}

TEST_P(SessionTest, AProgramEndsAfterATimeout) {
  StartNode({.hold_from = 1});
  auto session = Open();
  const std::vector<float> values = {1, 2};
  EXPECT_TRUE(session->InitGroup("g", {{"a", values}, {"b", values}}).Wait(kLong).ok());
  std::vector<float> a(2), b(2);
  Ticket ticket = session->PushPullGroup("g", {values, values}, {absl::MakeSpan(a), absl::MakeSpan(b)});
  EXPECT_EQ(ticket.Wait(absl::Milliseconds(1)).code(), absl::StatusCode::kDeadlineExceeded);
  ticket = Ticket();
  session.reset();
}

TEST_P(SessionTest, MoreRoundsThanInFlightMakeTheCallerWait) {
  StartNode({.workers = 2, .rounds_in_flight = 1});
  auto first = Open(0);
  auto second = Open(1);
  const std::vector<float> values = {1, 2};
  Ticket init = first->Init("w", values);
  EXPECT_TRUE(second->Init("w", values).Wait(kLong).ok());
  EXPECT_TRUE(init.Wait(kLong).ok());
  std::vector<float> result(2);
  Ticket open = first->PushPull("w", values, absl::MakeSpan(result));
  std::atomic<bool> returned = false;
  std::thread caller([&] {
    std::vector<float> later(2);
    Ticket next = first->PushPull("w", values, absl::MakeSpan(later));
    returned = true;
    EXPECT_TRUE(next.Wait(kLong).ok());
  });
  EXPECT_EQ(open.Wait(absl::Milliseconds(30)).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(returned);
  std::vector<float> mine(2);
  EXPECT_TRUE(second->PushPull("w", values, absl::MakeSpan(mine)).Wait(kLong).ok());
  EXPECT_TRUE(second->PushPull("w", values, absl::MakeSpan(mine)).Wait(kLong).ok());
  caller.join();
}

TEST_P(SessionTest, ManyThreadsAndKeys) {
  StartNode();
  auto session = Open();
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string key = "key" + std::to_string(thread);
      std::vector<float> values(1000 + thread);
      EXPECT_TRUE(session->Init(key, values).Wait(kLong).ok());
      for (float round = 1; round <= 30; ++round) {
        std::vector<float> gradient(values.size(), round);
        Ticket ticket = session->PushPull(key, gradient, absl::MakeSpan(values));
        ASSERT_TRUE(ticket.Wait(kLong).ok());
        EXPECT_EQ(values, gradient);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(SessionTest, AFailedJobEndsWaitingAndLaterCalls) {
  StartNode({.workers = 2, .fail_at = 2});
  auto first = Open(0);
  auto second = Open(1);
  const std::vector<float> values = {1, 2};
  std::vector<float> result(2);
  std::vector<float> other(2);
  Ticket init = first->Init("w", values);
  EXPECT_TRUE(second->Init("w", values).Wait(kLong).ok());
  Ticket barrier = second->Barrier();
  {
    Ticket fine = first->PushPull("w", values, absl::MakeSpan(result));
    EXPECT_TRUE(second->PushPull("w", values, absl::MakeSpan(other)).Wait(kLong).ok());
  }
  const absl::Status status = first->PushPull("w", values, absl::MakeSpan(result)).Wait(kLong);
  EXPECT_EQ(status, absl::UnavailableError("node n1, key w, round 2: the job failed: node n3 was lost"));
  EXPECT_EQ(barrier.Wait(kLong), absl::UnavailableError("node n1, barrier: the job failed: node n3 was lost"));
  const absl::Status later = first->Push("w", values).Wait(kLong);
  EXPECT_EQ(later.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(later.message(), "node n1, key w")) << later;
  EXPECT_EQ(second->Barrier().Wait(kLong).code(), absl::StatusCode::kUnavailable);
}

TEST_P(SessionTest, TheNodesEndEndsWaitingAndLaterCalls) {
  StartNode({.hold_from = 1});
  auto session = Open();
  const std::vector<float> values = {1, 2};
  std::vector<float> result(2);
  EXPECT_TRUE(session->Init("w", values).Wait(kLong).ok());
  Ticket push = session->PushPull("w", values, absl::MakeSpan(result));
  std::thread blocked([&] {
    const absl::Status status = session->Push("w", values).Wait(kLong);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  });
  EXPECT_TRUE(host_->Stop().ok());
  const absl::Status status = push.Wait(kLong);
  EXPECT_EQ(status, absl::UnavailableError("node n1, key w, round 1: the node has stopped"));
  blocked.join();
  host_.reset();
  EXPECT_EQ(session->Barrier().Wait(kLong).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(session->Pull("w", absl::MakeSpan(result)).Wait(kLong).code(), absl::StatusCode::kUnavailable);
}

TEST_P(SessionTest, ClosingEndsWhatRunsWithCancelled) {
  StartNode({.hold_from = 1});
  auto session = Open();
  const std::vector<float> values = {1, 2};
  std::vector<float> result(2);
  EXPECT_TRUE(session->Init("w", values).Wait(kLong).ok());
  Ticket push = session->PushPull("w", values, absl::MakeSpan(result));
  session.reset();
  EXPECT_EQ(push.Wait(kLong).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Detached(1), std::vector<bool>{false}) << "the round cannot finish without this worker";
}

TEST_P(SessionTest, AnAbandonedSessionIsThatOfADeadWorker) {
  StartNode();
  auto session = Open();
  session->Abandon();
  EXPECT_EQ(session->Barrier().Wait(kLong).code(), absl::StatusCode::kCancelled);
  session.reset();
  EXPECT_EQ(Detached(1), std::vector<bool>{false});
}

TEST_P(SessionTest, ASessionThatClosesAfterItsLastPushLeavesCleanly) {
  StartNode();
  auto session = Open();
  const std::vector<float> values = {1, 2};
  EXPECT_TRUE(session->Init("w", values).Wait(kLong).ok());
  session->Push("w", values);
  session->ReportLoss(1, 0.5);
  session.reset();
  EXPECT_EQ(Detached(1), std::vector<bool>{true});
}

TEST_P(SessionTest, SharedMemoryIsBoundedAndGivenBack) {
  StartNode({}, /*max_worker_bytes=*/100000);
  {
    auto session = Open();
    const std::vector<float> small(1000);
    const std::vector<float> large(100000);
    EXPECT_TRUE(session->Init("small", small).Wait(kLong).ok());
    EXPECT_GE(host_->host().worker_segment_bytes(), 3 * 4000);
    const absl::Status refused = session->Init("large", large).Wait(kLong);
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(absl::StrContains(refused.message(), "100000")) << refused;
    EXPECT_EQ(session->Push("large", large).Wait(kLong).code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(session->InitGroup("group", {{"a", small}, {"b", large}}).Wait(kLong).code(),
              absl::StatusCode::kResourceExhausted);
    // What was refused may be tried again.
    EXPECT_TRUE(session->Init("large", small).Wait(kLong).ok());
    EXPECT_TRUE(session->Push("large", small).Wait(kLong).ok());
    EXPECT_TRUE(session->InitGroup("group", {{"a", small}, {"b", small}}).Wait(kLong).ok());
    EXPECT_TRUE(session->PushGroup("group", {small, small}).Wait(kLong).ok());
  }
  EXPECT_TRUE(host_->Stop().ok());
  host_.reset();
}

TEST(SessionOpenTest, SaysWhatIsWrongWithTheAddress) {
  EXPECT_EQ(Session::Open({.node = "tcp://1.2.3.4:5"}).status().code(), absl::StatusCode::kInvalidArgument);
  const absl::Status nobody =
      Session::Open({.node = "unix:/tmp/banyan-nobody-listens-here", .open_timeout = absl::Milliseconds(50)}).status();
  EXPECT_EQ(nobody.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(nobody.message(), "/tmp/banyan-nobody-listens-here")) << nobody;
}

}  // namespace
}  // namespace banyan
