// Workers of one node, whose core gives one of them the state of another: the session, the socket, the shared memory
// and the node's part in it.
#include "runtime/session/session_state.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "node/state/state_exchange.h"
#include "node/step_context.h"
#include "runtime/node_host.h"
#include "runtime/session/session.h"
#include "runtime/testing/testing_session.h"

namespace banyan {
namespace {

constexpr TransferId kTransfer(9);

// A node alone in its job, which plays the scheduler as well: every fetch begins a transfer at once.
class StateNode : public Protocol, private StateWorkers {
 public:
  Actions Step(Timestamp now, Event event) override {
    actions_.clear();
    StepContext step{now, actions_, rejections_};
    if (std::holds_alternative<StopRequested>(event)) {
      exchange_.FailAll(step, absl::UnavailableError("the node was stopped"));
      actions_.emplace_back(std::in_place_type<Stop>, Stop{absl::OkStatus()});
    } else if (auto* called = std::get_if<WorkerCalled>(&event)) {
      OnCall(step, called->call);
    } else if (auto* state = std::get_if<StateCalled>(&event)) {
      if (std::holds_alternative<WorkerPassBoundary>(state->call)) ++boundaries_seen;
      exchange_.OnCall(step, state->call);
    } else if (std::holds_alternative<DeadlineReached>(event)) {
      exchange_.OnDeadline(step);
    }
    while (!mail_.to_scheduler.empty()) {
      for (const Message& message : std::exchange(mail_.to_scheduler, {})) PlayScheduler(step, message);
    }
    EXPECT_TRUE(mail_.empty()) << "there is no other node";
    return std::move(actions_);
  }
  Timestamp NextDeadline() const override { return exchange_.NextDeadline(); }

  std::atomic<int> boundaries_seen = 0;
  std::atomic<bool> is_young = false;

 private:
  void OnCall(StepContext& step, const WorkerCall& call) {
    if (const auto* attach = std::get_if<WorkerAttach>(&call)) Complete(attach->request, absl::OkStatus(), Round(1));
    if (const auto* detach = std::get_if<WorkerDetach>(&call)) exchange_.OnWorkerGone(step, detach->worker);
    if (const auto* init = std::get_if<WorkerInit>(&call)) Complete(init->request, absl::OkStatus(), Round(0));
    // Any other call never ends.
  }
  void Complete(RequestId request, absl::Status status, Round round) {
    actions_.emplace_back(std::in_place_type<CompleteRequest>, CompleteRequest{request, status, KeyId(1), round});
  }
  void PlayScheduler(StepContext& step, const Message& message) {
    if (const auto* wanted = std::get_if<StateWanted>(&message)) {
      fetch_ = wanted->fetch;
      transfer_ = transfer_.Next();
      exchange_.OnSought(step, {Term(1), transfer_, "a worker fetches"});
    } else if (const auto* held = std::get_if<BoundaryHeld>(&message)) {
      exchange_.OnHolders(step, {Term(1), transfer_, fetch_, held->step, {}, {{NodeId(1)}}});
    } else if (const auto* none = std::get_if<NoState>(&message)) {
      exchange_.OnReleased(step, {Term(1), transfer_, fetch_, absl::StatusCode::kUnavailable, none->reason});
      exchange_.OnReleased(step, {Term(1), transfer_, 0, absl::StatusCode::kOk, ""});
    } else if (const auto* ended = std::get_if<FetchEnded>(&message)) {
      if (!ended->has_state) {
        exchange_.OnReleased(
            step, {Term(1), transfer_, fetch_, absl::StatusCode::kUnavailable, "n1 has not reached a boundary"});
      }
      exchange_.OnReleased(step, {Term(1), transfer_, ended->has_state ? fetch_ : 0, absl::StatusCode::kOk, ""});
    }
  }

  std::vector<KeysPushed> PushedBy(WorkerId) const override { return {}; }
  bool HasState(WorkerId) const override { return true; }
  bool HasMissedNothing(WorkerId) const override { return is_young; }
  void Abstain(StepContext&, WorkerId) override {}
  void AbstainUntil(StepContext&, const std::vector<KeysPushed>&) override {}
  void AbstainFromAll(StepContext&) override {}
  bool HasResultsOf(const std::vector<KeysPushed>&) const override { return true; }
  void BeginAfter(StepContext&, WorkerId, const std::vector<KeysPushed>&) override {}
  void BeginAnywhere(StepContext&, WorkerId) override {}

  Actions actions_;
  RejectionLog rejections_;
  StateMail mail_;
  TransferId transfer_ = kTransfer;
  uint64_t fetch_ = 0;
  StateExchange exchange_{{}, &mail_, this};
};

// A worker's memory of many parts of odd sizes.
struct Memory {
  Memory(size_t parts, size_t size_bytes, bool is_filled) : bytes(parts) {
    for (size_t part = 0; part < parts; ++part) {
      bytes[part].resize(size_bytes + 3 * part);
      for (size_t i = 0; is_filled && i < bytes[part].size(); ++i) {
        bytes[part][i] = static_cast<uint8_t>(i * 31 + part + i / 251);
      }
    }
  }
  // In an order of their own.
  std::vector<StatePart> Parts() {
    std::vector<StatePart> parts;
    for (size_t part = bytes.size(); part > 0; --part) {
      parts.push_back({absl::StrCat("part", part - 1), absl::MakeSpan(bytes[part - 1])});
    }
    return parts;
  }

  std::vector<std::vector<uint8_t>> bytes;
};

class SessionStateTest : public testing::TestWithParam<PortKind> {
 protected:
  SessionStateTest() {
    std::string directory = "/tmp/banyan_XXXXXX";
    EXPECT_NE(mkdtemp(directory.data()), nullptr);
    socket_ = "unix:" + directory + "/n1";
    auto host = NodeHost::Start({.name = "n1", .worker_socket = socket_}, [&](const ProtocolHost&) {
      auto node = std::make_unique<StateNode>();
      node_ = node.get();
      return node;
    });
    EXPECT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }
  std::unique_ptr<Session> Open(uint32_t worker = 0) {
    auto session = GetParam() == PortKind::kLocal
                       ? host_->OpenSession(worker, kLong)
                       : Session::Open({.node = socket_, .worker = worker, .open_timeout = kLong});
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }
  // Comes to boundary after boundary, as a program that trains, until `done`. Returns the last status.
  static absl::Status Train(Session& session, const std::atomic<bool>& done) {
    absl::Status status;
    for (uint64_t step = 1; status.ok() && !done; ++step) {
      const absl::StatusOr<bool> is_held = session.IsBoundaryHeld();
      status = is_held.ok() && *is_held ? session.PassBoundary(step) : is_held.status();
      std::this_thread::yield();
    }
    return status;
  }

  std::string socket_;
  StateNode* node_ = nullptr;
  std::unique_ptr<NodeHost> host_;
};

INSTANTIATE_TEST_SUITE_P(BothPorts, SessionStateTest, testing::Values(PortKind::kUnix, PortKind::kLocal), PortName);

TEST_P(SessionStateTest, AWorkerGetsTheStateOfAnother) {
  auto old_worker = Open(0);
  auto new_worker = Open(1);
  Memory state(7, 30'001, true);
  Memory room(7, 30'001, false);
  ASSERT_TRUE(old_worker->ShareState(state.Parts()).ok());
  ASSERT_TRUE(new_worker->ShareState(room.Parts()).ok());
  std::atomic<bool> done = false;
  std::thread training([&] { EXPECT_TRUE(Train(*old_worker, done).ok()); });
  const absl::StatusOr<uint64_t> step = new_worker->FetchState(kLong);
  done = true;
  training.join();
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_GE(*step, 1u);
  EXPECT_EQ(room.bytes, state.bytes);
  EXPECT_EQ(node_->boundaries_seen, 1) << "one was waited at, others cost nothing";
}

TEST_P(SessionStateTest, AStateOfManyPartsNeedsManyMessages) {
  auto old_worker = Open(0);
  auto new_worker = Open(1);
  Memory state(3000, 100, true);
  Memory room(3000, 100, false);
  ASSERT_TRUE(old_worker->ShareState(state.Parts()).ok());
  ASSERT_TRUE(new_worker->ShareState(room.Parts()).ok());
  std::atomic<bool> done = false;
  std::thread training([&] { EXPECT_TRUE(Train(*old_worker, done).ok()); });
  EXPECT_TRUE(new_worker->FetchState(kLong).ok());
  done = true;
  training.join();
  EXPECT_EQ(room.bytes, state.bytes);
}

TEST_P(SessionStateTest, BoundariesCostNothingWhileNobodyFetches) {
  auto session = Open();
  Memory state(2, 1000, true);
  ASSERT_TRUE(session->ShareState(state.Parts()).ok());
  for (uint64_t step = 1; step <= 1000; ++step) {
    ASSERT_TRUE(session->PassBoundary(step).ok());
    ASSERT_EQ(session->IsBoundaryHeld(), absl::StatusOr<bool>(false));
  }
  EXPECT_EQ(node_->boundaries_seen, 0);
}

TEST_P(SessionStateTest, WrongUseIsToldAtOnce) {
  auto session = Open();
  EXPECT_EQ(session->IsBoundaryHeld().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session->PassBoundary(1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session->FetchState(kLong).status().code(), absl::StatusCode::kFailedPrecondition);
  Memory state(2, 1000, true);
  EXPECT_TRUE(session->ShareState({}).ok()) << "it needs no state";
  EXPECT_EQ(session->FetchState(kLong).status().code(), absl::StatusCode::kFailedPrecondition);
  std::vector<StatePart> twice = state.Parts();
  twice[1].name = twice[0].name;
  EXPECT_EQ(session->ShareState(twice).message(), "two parts of the training state are called 'part1'");
  std::vector<StatePart> hollow = state.Parts();
  hollow[1].memory = {};
  EXPECT_EQ(session->ShareState(hollow).message(), "part 'part0' of the training state is empty");
  std::vector<StatePart> nameless = state.Parts();
  nameless[0].name = "";
  EXPECT_EQ(session->ShareState(nameless).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(session->ShareState(state.Parts()).ok());
  EXPECT_EQ(session->ShareState(state.Parts()).code(), absl::StatusCode::kFailedPrecondition);
  auto other = Open(1);
  Memory different(2, 1001, true);
  EXPECT_EQ(other->ShareState(different.Parts()).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(SessionStateTest, AYoungJobHasNoStateToFetch) {
  node_->is_young = true;
  auto session = Open();
  Memory state(2, 1000, true);
  ASSERT_TRUE(session->ShareState(state.Parts()).ok());
  EXPECT_EQ(session->FetchState(kLong).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(SessionStateTest, AFetchThatNobodyAnswersTimesOut) {
  auto old_worker = Open(0);
  auto new_worker = Open(1);
  Memory state(2, 1000, true);
  Memory room(2, 1000, false);
  ASSERT_TRUE(old_worker->ShareState(state.Parts()).ok());
  ASSERT_TRUE(new_worker->ShareState(room.Parts()).ok());
  const absl::Status status = new_worker->FetchState(absl::Milliseconds(50)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(absl::StrContains(status.message(), "n1 has not reached a boundary")) << status;
}

TEST_P(SessionStateTest, ABoundaryWithAnOperationUnderWayIsNone) {
  auto old_worker = Open(0);
  auto new_worker = Open(1);
  Memory state(2, 1000, true);
  Memory room(2, 1000, false);
  ASSERT_TRUE(old_worker->ShareState(state.Parts()).ok());
  ASSERT_TRUE(new_worker->ShareState(room.Parts()).ok());
  std::vector<float> values = {1, 2};
  ASSERT_TRUE(old_worker->Init("w", values).Wait(kLong).ok());
  std::thread fetching([&] { (void)new_worker->FetchState(kLong); });
  Ticket push = old_worker->PushPull("w", values, absl::MakeSpan(values));
  absl::Status status;
  for (uint64_t step = 1; status.ok(); ++step) status = old_worker->PassBoundary(step);
  EXPECT_EQ(status.message(), "an operation of key w is under way; a boundary comes when all operations are done");
  EXPECT_TRUE(host_->Stop().ok());
  fetching.join();
}

TEST_P(SessionStateTest, AWorkerThatLeavesItsBoundaryGoesOn) {
  auto old_worker = Open(0);
  auto new_worker = Open(1);
  Memory state(2, 1000, true);
  Memory room(2, 1000, false);
  ASSERT_TRUE(old_worker->ShareState(state.Parts()).ok());
  ASSERT_TRUE(new_worker->ShareState(room.Parts()).ok());
  absl::Status fetched;
  std::thread fetching([&] { fetched = new_worker->FetchState(kLong).status(); });
  absl::Status status;
  for (uint64_t step = 1; status.ok() && node_->boundaries_seen == 0; ++step) {
    status = old_worker->PassBoundary(step, absl::ZeroDuration());
  }
  EXPECT_TRUE(status.ok() || absl::IsDeadlineExceeded(status)) << status;
  fetching.join();
  // The state may have been there in no time.
  EXPECT_TRUE(fetched.ok() || absl::IsUnavailable(fetched)) << fetched;
  EXPECT_TRUE(old_worker->PassBoundary(99).ok());
}

TEST_P(SessionStateTest, TheNodesEndEndsAFetch) {
  auto old_worker = Open(0);
  auto new_worker = Open(1);
  Memory state(2, 1000, true);
  Memory room(2, 1000, false);
  ASSERT_TRUE(old_worker->ShareState(state.Parts()).ok());
  ASSERT_TRUE(new_worker->ShareState(room.Parts()).ok());
  absl::Status status;
  std::thread fetching([&] { status = new_worker->FetchState().status(); });
  EXPECT_TRUE(host_->Stop().ok());
  fetching.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
}

TEST_P(SessionStateTest, AWorkerThatDiesIsFollowedByOneThatFetches) {
  auto old_worker = Open(0);
  Memory state(2, 50'000, true);
  ASSERT_TRUE(old_worker->ShareState(state.Parts()).ok());
  std::atomic<bool> done = false;
  std::thread training([&] { EXPECT_TRUE(Train(*old_worker, done).ok()); });
  for (int life = 0; life < 3; ++life) {
    auto new_worker = Open(1);
    Memory room(2, 50'000, false);
    ASSERT_TRUE(new_worker->ShareState(room.Parts()).ok());
    EXPECT_TRUE(new_worker->FetchState(kLong).ok());
    EXPECT_EQ(room.bytes, state.bytes);
  }
  done = true;
  training.join();
}

}  // namespace
}  // namespace banyan
