// Groups of tensors in whole sessions.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "runtime/testing/testing_session.h"

namespace banyan {
namespace {

class SessionGroupCallsTest : public SessionTest {};

INSTANTIATE_TEST_SUITE_P(BothPorts, SessionGroupCallsTest, testing::Values(PortKind::kUnix, PortKind::kLocal),
                         PortName);

// Tensors of 0, 1, ... elements, with the names t0, t1, ...
struct Tensors {
  explicit Tensors(size_t count, float value = 0) {
    for (size_t i = 0; i < count; ++i) values.emplace_back(i, value);
  }
  static std::string Name(size_t index) { return absl::StrCat("t", index); }
  std::vector<GroupPart> Parts(bool is_agreed = false) {
    std::vector<GroupPart> parts;
    for (size_t i = 0; i < values.size(); ++i) {
      parts.push_back({Name(i), values[i], is_agreed ? TensorView(values[i]) : TensorView()});
    }
    return parts;
  }
  std::vector<ConstTensorView> Gradients() const { return {values.begin(), values.end()}; }
  std::vector<TensorView> Results() { return {values.begin(), values.end()}; }

  std::vector<std::vector<float>> values;
};

TEST_P(SessionGroupCallsTest, TensorsOfAGroupArePushedAndPulledByName) {
  StartNode({.workers = 2});
  auto first = Open(0);
  auto second = Open(1);
  Tensors values0(40, 1);
  Tensors values1(40, 2);
  Ticket init0 = first->InitGroup("g", values0.Parts(/*is_agreed=*/true));
  Ticket init1 = second->InitGroup("g", values1.Parts(/*is_agreed=*/true));
  ASSERT_TRUE(init0.Wait(kLong).ok());
  ASSERT_TRUE(init1.Wait(kLong).ok());
  EXPECT_EQ(values1.values, values0.values) << "worker 0 wins";
  for (int round = 1; round <= 5; ++round) {
    const Tensors gradients0(40, static_cast<float>(round));
    const Tensors gradients1(40, 10);
    Tensors results(40);
    std::vector<Ticket> tickets;
    for (size_t i = 0; i < 40; ++i) {
      tickets.push_back(first->PushPull(Tensors::Name(i), gradients0.values[i], results.values[i]));
      const size_t back = 39 - i;
      tickets.push_back(second->Push(Tensors::Name(back), gradients1.values[back], {.priority = 1}));
    }
    for (Ticket& ticket : tickets) {
      ASSERT_TRUE(ticket.Wait(kLong).ok());
      EXPECT_EQ(ticket.round(), static_cast<uint64_t>(round));
    }
    EXPECT_EQ(results.values, Tensors(40, static_cast<float>(10 + round)).values);
    Tensors pulled(40);
    for (size_t i = 0; i < 40; ++i) {
      ASSERT_TRUE(second->Pull(Tensors::Name(i), pulled.values[i]).Wait(kLong).ok());
    }
    EXPECT_EQ(pulled.values, results.values);
  }
}

TEST_P(SessionGroupCallsTest, AGroupIsPushedAsAWholeInThreeWays) {
  StartNode();
  auto session = Open();
  Tensors values(4, 1);
  ASSERT_TRUE(session->InitGroup("g", values.Parts()).Wait(kLong).ok());
  ASSERT_TRUE(session->PushPullGroup("g", Tensors(4, 2).Gradients(), values.Results()).Wait(kLong).ok());
  EXPECT_EQ(values.values, Tensors(4, 2).values);
  ASSERT_TRUE(session->PushGroup("g", Tensors(4, 3).Gradients()).Wait(kLong).ok());
  Ticket pull = session->PullGroup("g", values.Results());
  ASSERT_TRUE(pull.Wait(kLong).ok());
  EXPECT_EQ(pull.round(), 2u);
  EXPECT_EQ(values.values, Tensors(4, 3).values);
  // By its own name it is a key of the tensors one after another.
  auto gradient = session->ShareGradient("g");
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  ASSERT_EQ(gradient->values().size(), 6u);
  for (size_t i = 0; i < 6; ++i) gradient->values()[i] = static_cast<float>(i);
  Ticket shared = session->PushPull("g", *std::move(gradient));
  ASSERT_TRUE(shared.Wait(kLong).ok());
  EXPECT_EQ(shared.shared_result()[5], 5);
  shared = Ticket();
  ASSERT_TRUE(session->Pull("t2", values.values[2]).Wait(kLong).ok());
  EXPECT_EQ(values.values[2], std::vector<float>({1, 2}));
}

TEST_P(SessionGroupCallsTest, FlushAndBroadcastOfAGroup) {
  StartNode();
  auto session = Open();
  Tensors values(3, 1);
  ASSERT_TRUE(session->InitGroup("g", values.Parts()).Wait(kLong).ok());
  for (const bool is_flush : {true, false}) {
    const Tensors gradients(3, is_flush ? 5 : 6);
    std::vector<Ticket> tickets;
    for (size_t i = 0; i < 3; ++i) {
      const std::string name = Tensors::Name(i);
      tickets.push_back(is_flush ? session->Flush(name, gradients.values[i], values.values[i])
                                 : session->Broadcast(name, gradients.values[i], values.values[i]));
    }
    for (Ticket& ticket : tickets) ASSERT_TRUE(ticket.Wait(kLong).ok());
    EXPECT_EQ(values.values, gradients.values);
  }
}

TEST_P(SessionGroupCallsTest, ARoundOfAGroupThatIsNotFullSaysSo) {
  StartNode();
  auto session = Open();
  Tensors values(5, 1);
  ASSERT_TRUE(session->InitGroup("g", values.Parts()).Wait(kLong).ok());
  std::vector<float> result(2);
  Ticket waiting = session->PushPull("t2", values.values[2], result);
  EXPECT_EQ(waiting.Wait(absl::Milliseconds(20)),
            absl::DeadlineExceededError("node n1, key t2 of group g, round 1: not done after 20ms; it goes on: group g "
                                        "waits for this worker's own push of t0, t1, t3 and 1 others"));
  const absl::Status twice = session->Push("t2", values.values[2]).Wait(kLong);
  EXPECT_EQ(twice.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(twice.message(), "still waits for t0, t1, t3 and 1 others")) << twice;
  for (const absl::Status& whole : {session->PushGroup("g", values.Gradients()).Wait(kLong),
                                    session->Push("g", std::vector<float>(10)).Wait(kLong)}) {
    EXPECT_EQ(whole.code(), absl::StatusCode::kFailedPrecondition) << whole;
  }
  // The session's end takes it along, and nobody calls it a death.
  session.reset();
  EXPECT_EQ(waiting.Wait(kLong).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Detached(1), std::vector<bool>({true}));
}

TEST_P(SessionGroupCallsTest, AHalfPushedGroupIsInNoRound) {
  StartNode({.workers = 2});
  auto first = Open(0);
  auto second = Open(1);
  Tensors values(3, 1);
  Ticket init = first->InitGroup("g", values.Parts());
  ASSERT_TRUE(second->InitGroup("g", values.Parts()).Wait(kLong).ok());
  ASSERT_TRUE(init.Wait(kLong).ok());
  Ticket half = first->Push("t1", values.values[1]);
  Tensors results(3);
  Ticket whole = second->PushPullGroup("g", values.Gradients(), results.Results());
  EXPECT_TRUE(absl::IsDeadlineExceeded(whole.Wait(absl::Milliseconds(50))));
  Ticket other = first->Push("t2", values.values[2]);
  Ticket none = first->Push("t0", values.values[0]);
  EXPECT_TRUE(half.Wait(kLong).ok());
  EXPECT_TRUE(whole.Wait(kLong).ok());
  EXPECT_EQ(results.values, Tensors(3, 2).values);
}

TEST_P(SessionGroupCallsTest, TheJobsEndIsThatOfAHalfPushedGroup) {
  StartNode({.fail_at = 1});
  auto session = Open();
  Tensors values(3, 1);
  ASSERT_TRUE(session->InitGroup("g", values.Parts()).Wait(kLong).ok());
  ASSERT_TRUE(session->Init("w", values.values[1]).Wait(kLong).ok());
  Ticket half = session->Push("t1", values.values[1]);
  EXPECT_FALSE(session->PushPull("w", values.values[1], values.values[1]).Wait(kLong).ok());
  EXPECT_EQ(half.Wait(kLong),
            absl::UnavailableError("node n1, key t1 of group g, round 1: the job failed: node n3 was lost"));
}

TEST_P(SessionGroupCallsTest, RefusesGroupsThatCannotBe) {
  StartNode();
  auto session = Open();
  const std::vector<float> one = {1};
  const std::vector<float> two = {1, 2};
  ASSERT_TRUE(session->Init("w", one).Wait(kLong).ok());
  ASSERT_TRUE(session->InitGroup("g", {{"a", one}, {"b", two}}).Wait(kLong).ok());
  const auto code = [&](absl::string_view name, std::vector<GroupPart> parts) {
    return session->InitGroup(name, parts).Wait(kLong).code();
  };
  EXPECT_EQ(code("g", {{"a", one}, {"b", two}}), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(code("g", {{"a", one}, {"b", one}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("w", {{"x", one}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("a", {{"x", one}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("h", {{"w", one}}), absl::StatusCode::kInvalidArgument) << "a key";
  EXPECT_EQ(code("h", {{"a", one}}), absl::StatusCode::kInvalidArgument) << "in another group";
  EXPECT_EQ(code("h", {{"g", one}}), absl::StatusCode::kInvalidArgument) << "a group";
  EXPECT_EQ(code("h", {{"h", one}}), absl::StatusCode::kInvalidArgument) << "itself";
  EXPECT_EQ(code("h", {{"x", one}, {"x", one}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("h", {{"", one}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("h", {}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("h", {{"x", {}}, {"y", {}}}), absl::StatusCode::kInvalidArgument) << "all are empty";
  EXPECT_EQ(session->Init("a", one).Wait(kLong).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(session->ShareGradient("a").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session->RegisterWeights("a", one).Wait(kLong).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(session->RegisterWeights("g", std::vector<float>(3)).Wait(kLong).ok());
  EXPECT_EQ(session->PushGroup("h", {}).Wait(kLong).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session->PushGroup("g", {}).Wait(kLong).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(session->Push("a", two).Wait(kLong).code(), absl::StatusCode::kInvalidArgument);
  // What was refused is free.
  EXPECT_TRUE(session->InitGroup("h", {{"x", one}}).Wait(kLong).ok());
}

TEST_P(SessionGroupCallsTest, RunsTheCallbackOfEachTensor) {
  StartNode();
  auto session = Open();
  Tensors values(20, 1);
  ASSERT_TRUE(session->InitGroup("g", values.Parts()).Wait(kLong).ok());
  std::vector<size_t> called;  // by the session's one callback thread
  for (size_t i = 0; i < 20; ++i) {
    session->Push(Tensors::Name(i), values.values[i], {.on_done = [&called, i](const absl::Status& status) {
                    EXPECT_TRUE(status.ok()) << status;
                    called.push_back(i);
                  }});
  }
  session.reset();
  EXPECT_EQ(called.size(), 20u);
}

TEST_P(SessionGroupCallsTest, SeveralRoundsOfAGroupMayBeOpen) {
  StartNode({.rounds_in_flight = 2});
  auto session = Open();
  Tensors values(3, 1);
  ASSERT_TRUE(session->InitGroup("g", values.Parts()).Wait(kLong).ok());
  for (int i = 0; i < 20; ++i) {
    Tensors one(3);
    Tensors other(3);
    std::vector<Ticket> tickets;
    for (size_t part = 0; part < 3; ++part) {
      tickets.push_back(session->PushPull(Tensors::Name(part), Tensors(3, 4).values[part], one.values[part]));
    }
    for (size_t part = 0; part < 3; ++part) {
      tickets.push_back(session->Push(Tensors::Name(part), Tensors(3, 5).values[part]));
      tickets.push_back(session->Pull(Tensors::Name(part), other.values[part]));
    }
    for (Ticket& ticket : tickets) ASSERT_TRUE(ticket.Wait(kLong).ok());
    EXPECT_EQ(one.values, Tensors(3, 4).values);
    EXPECT_EQ(other.values, Tensors(3, 5).values);
  }
}

}  // namespace
}  // namespace banyan
