#include "node/state/state_exchange.h"

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/digest.h"
#include "gtest/gtest.h"
#include "node/step_context.h"

namespace banyan {
namespace {

constexpr TransferId kTransfer(9);
constexpr WorkerId kFirst(0);
constexpr WorkerId kSecond(1);
const std::vector<KeysPushed> kPushed = {{KeyId(1), KeyId(2), Round(7)}};

// One node's exchange, with its workers' memories; what goes to other nodes waits in `sent`.
class TestNode : private StateWorkers {
 public:
  explicit TestNode(uint32_t id) : id_(id), exchange({}, &mail_, this) {}

  void Share(WorkerId worker, std::vector<uint8_t> memory) {
    memories[worker] = std::move(memory);
    const auto size_bytes = static_cast<int64_t>(memories[worker].size());
    Call(WorkerShareState{Next(), worker, {{{"weights", size_bytes}}}});
  }
  RequestId Fetch(WorkerId worker, absl::Duration timeout = absl::InfiniteDuration()) {
    const RequestId request = Next();
    Call(WorkerFetchState{request, worker, timeout});
    return request;
  }
  RequestId Reach(WorkerId worker, uint64_t boundary) {
    const RequestId request = Next();
    Call(WorkerPassBoundary{request, worker, boundary});
    return request;
  }
  void Call(const StateCall& call) {
    Do([&](StepContext& step) { exchange.OnCall(step, call); });
    AnswerTasks();
  }
  // Hands over what the scheduler or another node says.
  void Hear(const Message& message, const Payload& payload = {}) {
    Do([&](StepContext& step) { Take(step, message, payload); });
    AnswerTasks();
  }
  void PassTime(absl::Duration time) {
    now = now + time;
    Do([&](StepContext& step) { exchange.OnDeadline(step); });
    AnswerTasks();
  }
  // Does something to the exchange, and takes what comes of it.
  void Do(const std::function<void(StepContext& step)>& happens) {
    StepContext step{now, actions_, rejections_};
    happens(step);
    for (Action& action : std::exchange(actions_, {})) {
      if (auto* ask = std::get_if<AskWorker>(&action)) tasks_.push_back(std::move(ask->task));
      auto* call = std::get_if<CompleteRequest>(&action);
      if (call == nullptr) continue;
      EXPECT_TRUE(completed.emplace(call->request, std::make_pair(call->status, call->step)).second) << "node " << id_;
    }
    EXPECT_TRUE(mail_.to_self.empty());
    for (Message& message : std::exchange(mail_.to_scheduler, {})) told.push_back(std::move(message));
    for (StateMail::Routed& routed : std::exchange(mail_.to_nodes, {})) sent.push_back(std::move(routed));
  }
  void Take(StepContext& step, const Message& message, const Payload& payload) {
    if (const auto* sought = std::get_if<StateSought>(&message)) {
      exchange.OnSought(step, *sought);
    } else if (const auto* holders = std::get_if<StateHolders>(&message)) {
      exchange.OnHolders(step, *holders);
    } else if (const auto* released = std::get_if<StateReleased>(&message)) {
      exchange.OnReleased(step, *released);
    } else {
      exchange.OnPeerMessage(step, message, payload);
    }
  }
  template <typename Kind>
  std::vector<Kind> TakeTold() {
    std::vector<Kind> kinds;
    for (const Message& message : std::exchange(told, {})) {
      if (std::holds_alternative<Kind>(message)) kinds.push_back(std::get<Kind>(message));
    }
    return kinds;
  }
  const absl::Status& StatusOf(RequestId request) const { return completed.at(request).first; }

  Timestamp now;
  std::map<WorkerId, std::vector<uint8_t>> memories;
  std::vector<Message> told;
  std::deque<std::pair<Message, Payload>> sent;
  std::map<RequestId, std::pair<absl::Status, uint64_t>> completed;
  std::vector<std::string> engine;  // what the rest of the node was told
  std::set<WorkerId> young;         // workers that have missed nothing
  std::set<WorkerId> late;          // workers that have no state
  bool takes_chunks = true;         // its workers do
  bool has_results = true;          // of the rounds in the state

 private:
  RequestId Next() { return RequestId(++last_request_); }
  void AnswerTasks() {
    while (!tasks_.empty()) {
      const StateTask task = std::move(tasks_.front());
      tasks_.pop_front();
      Do([&](StepContext& step) {
        if (const auto* read = std::get_if<ReadState>(&task)) exchange.OnCall(step, Read(*read));
        if (const auto* write = std::get_if<WriteState>(&task)) exchange.OnCall(step, Written(*write));
      });
    }
  }
  StateLayout LayoutOf(WorkerId worker) const { return StateLayout(static_cast<int64_t>(memories.at(worker).size())); }
  WorkerStateRead Read(const ReadState& read) {
    const StateLayout layout = LayoutOf(read.worker);
    const absl::Span<const uint8_t> memory(memories.at(read.worker));
    const auto bytes = [&](ChunkIndex chunk) { return memory.subspan(layout.OffsetOf(chunk), layout.SizeOf(chunk)); };
    if (read.chunk.has_value()) return {read.worker, read.chunk, Buffer::CopyOfBytes(bytes(*read.chunk))};
    std::vector<uint64_t> hashes;
    for (ChunkIndex chunk(0); layout.Has(chunk); chunk = chunk.Next()) hashes.push_back(DigestBytes(bytes(chunk), 0));
    const auto* raw = reinterpret_cast<const uint8_t*>(hashes.data());
    return {read.worker, std::nullopt, Buffer::CopyOfBytes(absl::MakeConstSpan(raw, hashes.size() * 8))};
  }
  WorkerStateWritten Written(const WriteState& write) {
    if (!takes_chunks) return {write.worker, write.chunk, false};
    std::memcpy(memories.at(write.worker).data() + LayoutOf(write.worker).OffsetOf(write.chunk), write.bytes.data(),
                write.bytes.size_bytes());
    return {write.worker, write.chunk, true};
  }

  std::vector<KeysPushed> PushedBy(WorkerId) const override { return kPushed; }
  bool HasState(WorkerId worker) const override { return late.count(worker) == 0; }
  bool HasMissedNothing(WorkerId worker) const override { return young.count(worker) > 0; }
  void Abstain(StepContext&, WorkerId) override { engine.push_back("abstain"); }
  void AbstainUntil(StepContext&, const std::vector<KeysPushed>& pushed) override {
    EXPECT_EQ(pushed, kPushed);
    engine.push_back("abstain until");
  }
  void AbstainFromAll(StepContext&) override { engine.push_back("abstain from all"); }
  bool HasResultsOf(const std::vector<KeysPushed>&) const override { return has_results; }
  void BeginAfter(StepContext&, WorkerId, const std::vector<KeysPushed>& pushed) override {
    EXPECT_EQ(pushed, kPushed);
    engine.push_back("begin after");
  }
  void BeginAnywhere(StepContext&, WorkerId) override { engine.push_back("begin anywhere"); }

  const uint32_t id_;
  uint64_t last_request_ = 0;
  std::deque<StateTask> tasks_;
  Actions actions_;
  RejectionLog rejections_;
  StateMail mail_;

 public:
  StateExchange exchange;
};

class StateExchangeTest : public testing::Test {
 protected:
  StateExchangeTest() {
    for (size_t i = 0; i < state_.size(); ++i) state_[i] = static_cast<uint8_t>(i * 7 + i / 300);
  }
  std::vector<uint8_t> Nothing() const { return std::vector<uint8_t>(state_.size()); }
  static StateSought Sought() { return {Term(1), kTransfer, "n1 has joined"}; }
  StateHolders Holders(std::vector<NodeId> path, uint64_t fetch = 1) const {
    return {Term(1), kTransfer, fetch, 1200, kPushed, {std::move(path)}};
  }
  // `fetch` is the one that the transfer has ended well.
  static StateReleased Released(uint64_t fetch = 0) { return {Term(1), kTransfer, fetch, absl::StatusCode::kOk, ""}; }
  // Carries what the nodes say to each other until nothing is left.
  void Carry() {
    while (!joiner_.sent.empty() || !holder_.sent.empty()) {
      TestNode& from = joiner_.sent.empty() ? holder_ : joiner_;
      TestNode& to = joiner_.sent.empty() ? joiner_ : holder_;
      const auto [message, payload] = std::move(from.sent.front());
      from.sent.pop_front();
      to.Hear(message, payload);
    }
  }
  // Up to the time that the joiner has told that it has the state.
  RequestId FetchFromHolder() {
    holder_.Share(kFirst, state_);
    joiner_.Share(kFirst, Nothing());
    const RequestId fetch = joiner_.Fetch(kFirst);
    EXPECT_EQ(joiner_.TakeTold<StateWanted>(), std::vector<StateWanted>{{1}});
    holder_.Hear(Sought());
    held_ = holder_.Reach(kFirst, 1200);
    EXPECT_EQ(holder_.TakeTold<BoundaryHeld>(), (std::vector<BoundaryHeld>{{kTransfer, 1200, kPushed}}));
    joiner_.Hear(Holders({NodeId(1), NodeId(2)}));
    Carry();
    return fetch;
  }

  std::vector<uint8_t> state_ = std::vector<uint8_t>(50'000);
  TestNode joiner_{1};
  TestNode holder_{2};
  RequestId held_;
};

TEST_F(StateExchangeTest, AWorkerGetsTheStateAndBeginsWhenAllGoOn) {
  const RequestId fetch = FetchFromHolder();
  EXPECT_EQ(joiner_.memories.at(kFirst), state_);
  EXPECT_EQ(joiner_.TakeTold<FetchEnded>(), (std::vector<FetchEnded>{{kTransfer, 1, true, ""}}));
  EXPECT_EQ(joiner_.completed.count(fetch), 0u) << "the others have not been told to go on";
  joiner_.Hear(Released(1));
  holder_.Hear(Released());
  EXPECT_TRUE(joiner_.StatusOf(fetch).ok());
  EXPECT_EQ(joiner_.completed.at(fetch).second, 1200u);
  EXPECT_TRUE(holder_.StatusOf(held_).ok());
  EXPECT_EQ(joiner_.engine, (std::vector<std::string>{"abstain", "abstain until", "begin after", "abstain from all"}));
}

TEST_F(StateExchangeTest, WhoHasMissedNothingFetchesNothing) {
  joiner_.Share(kFirst, Nothing());
  joiner_.young.insert(kFirst);
  EXPECT_EQ(joiner_.StatusOf(joiner_.Fetch(kFirst)).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(joiner_.told.empty());
  EXPECT_EQ(joiner_.StatusOf(joiner_.Fetch(kSecond)).code(), absl::StatusCode::kFailedPrecondition)
      << "it has shared nothing";
}

TEST_F(StateExchangeTest, AFetchThatFailsLeavesTheWorkerWithoutAState) {
  joiner_.Share(kFirst, Nothing());
  const RequestId fetch = joiner_.Fetch(kFirst);
  joiner_.Hear(StateReleased{Term(1), kTransfer, 1, absl::StatusCode::kDataLoss, "those who had it are gone"});
  EXPECT_EQ(joiner_.StatusOf(fetch), absl::DataLossError("those who had it are gone"));
  EXPECT_EQ(joiner_.engine, (std::vector<std::string>{"abstain", "abstain from all"})) << "it begins nowhere";
}

TEST_F(StateExchangeTest, ATransferForAFetchThatHasEndedIsNotKeptWaiting) {
  joiner_.Share(kFirst, Nothing());
  joiner_.Fetch(kFirst);
  joiner_.Hear(StateReleased{Term(1), kTransfer, 1, absl::StatusCode::kDataLoss, "those who had it are gone"});
  joiner_.told.clear();
  joiner_.Hear(Holders({NodeId(1), NodeId(2)}));
  const std::vector<FetchEnded> told = joiner_.TakeTold<FetchEnded>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].transfer, kTransfer);
  EXPECT_EQ(told[0].fetch, 1u);
  EXPECT_FALSE(told[0].has_state);
}

TEST_F(StateExchangeTest, WhoTakesNoChunksDoesNotHaveTheState) {
  joiner_.takes_chunks = false;
  const RequestId fetch = FetchFromHolder();
  EXPECT_EQ(joiner_.StatusOf(fetch).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(joiner_.engine, (std::vector<std::string>{"abstain", "abstain until", "abstain from all"}));
  const std::vector<FetchEnded> told = joiner_.TakeTold<FetchEnded>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_FALSE(told[0].has_state);
}

TEST_F(StateExchangeTest, WhoSharesNoPartsNeedsNoState) {
  joiner_.Call(WorkerShareState{RequestId(99), kSecond, {}});
  EXPECT_TRUE(joiner_.StatusOf(RequestId(99)).ok());
  EXPECT_EQ(joiner_.engine, std::vector<std::string>{"begin anywhere"});
  EXPECT_EQ(joiner_.StatusOf(joiner_.Fetch(kSecond)).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(StateExchangeTest, WhoHasNoStateGivesNone) {
  joiner_.Share(kFirst, Nothing());
  joiner_.late.insert(kFirst);
  joiner_.Hear(Sought());
  EXPECT_EQ(joiner_.TakeTold<NoState>().size(), 1u) << "nobody waits for its boundary";
  EXPECT_EQ(joiner_.StatusOf(joiner_.Reach(kFirst, 1200)).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(StateExchangeTest, NobodySharesAState) {
  joiner_.Share(kFirst, Nothing());
  const RequestId fetch = joiner_.Fetch(kFirst);
  joiner_.Hear(StateReleased{Term(1), TransferId(), 7, absl::StatusCode::kNotFound, "of another fetch"});
  EXPECT_EQ(joiner_.completed.count(fetch), 0u);
  joiner_.Hear(StateReleased{Term(1), kTransfer, 1, absl::StatusCode::kNotFound, "nobody shares a state"});
  EXPECT_EQ(joiner_.StatusOf(fetch), absl::NotFoundError("nobody shares a state"));
  EXPECT_EQ(joiner_.engine, (std::vector<std::string>{"abstain", "abstain from all", "begin anywhere"}));
  const RequestId again = joiner_.Fetch(kFirst);
  EXPECT_EQ(joiner_.TakeTold<StateWanted>().back(), StateWanted{2});
  EXPECT_EQ(joiner_.completed.count(again), 0u);
}

TEST_F(StateExchangeTest, ARestartedWorkerGetsTheStateOfAnotherOneOfItsNode) {
  joiner_.Share(kFirst, state_);
  joiner_.Share(kSecond, Nothing());
  const RequestId fetch = joiner_.Fetch(kSecond);
  joiner_.Hear(Sought());
  const RequestId held = joiner_.Reach(kFirst, 1200);
  joiner_.Hear(Holders({NodeId(1)}));
  EXPECT_TRUE(joiner_.sent.empty());
  EXPECT_EQ(joiner_.memories.at(kSecond), state_);
  joiner_.Hear(Released(1));
  EXPECT_TRUE(joiner_.StatusOf(fetch).ok());
  EXPECT_TRUE(joiner_.StatusOf(held).ok());
}

TEST_F(StateExchangeTest, TwoWorkersFetchTogether) {
  holder_.Share(kFirst, state_);
  joiner_.Share(kFirst, Nothing());
  joiner_.Share(kSecond, Nothing());
  const RequestId one = joiner_.Fetch(kFirst);
  const RequestId two = joiner_.Fetch(kSecond);
  EXPECT_EQ(joiner_.TakeTold<StateWanted>().size(), 1u);
  holder_.Hear(Sought());
  holder_.Reach(kFirst, 1200);
  joiner_.Hear(Holders({NodeId(1), NodeId(2)}));
  Carry();
  EXPECT_EQ(joiner_.memories.at(kFirst), state_);
  EXPECT_EQ(joiner_.memories.at(kSecond), state_);
  joiner_.Hear(Released(1));
  EXPECT_TRUE(joiner_.StatusOf(one).ok());
  EXPECT_TRUE(joiner_.StatusOf(two).ok());
}

TEST_F(StateExchangeTest, AWorkerThatComesAfterTheEndFetchesNext) {
  const RequestId one = FetchFromHolder();
  joiner_.Share(kSecond, Nothing());
  const RequestId two = joiner_.Fetch(kSecond);
  EXPECT_EQ(joiner_.completed.count(two), 0u);
  joiner_.told.clear();
  joiner_.Hear(Released(1));
  EXPECT_TRUE(joiner_.StatusOf(one).ok());
  EXPECT_EQ(joiner_.TakeTold<StateWanted>(), std::vector<StateWanted>{{2}});
}

TEST_F(StateExchangeTest, AFetchThatTimesOutSaysWhomItWaitedFor) {
  joiner_.Share(kFirst, Nothing());
  const RequestId fetch = joiner_.Fetch(kFirst, absl::Seconds(10));
  joiner_.PassTime(absl::Seconds(10));
  EXPECT_FALSE(joiner_.TakeTold<FetchEnded>().at(0).has_state);
  EXPECT_EQ(joiner_.completed.count(fetch), 0u);
  joiner_.Hear(StateReleased{Term(1), kTransfer, 1, absl::StatusCode::kUnavailable, "n3 has not reached a boundary"});
  EXPECT_EQ(joiner_.StatusOf(fetch), absl::DeadlineExceededError("n3 has not reached a boundary"));
}

TEST_F(StateExchangeTest, AFetchThatTimesOutEndsWithoutTheScheduler) {
  joiner_.Share(kFirst, Nothing());
  const RequestId fetch = joiner_.Fetch(kFirst, absl::Seconds(10));
  joiner_.PassTime(absl::Seconds(10));
  joiner_.PassTime(absl::Seconds(2));
  EXPECT_EQ(joiner_.StatusOf(fetch).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(joiner_.exchange.NextDeadline(), kNever);
}

TEST_F(StateExchangeTest, AWorkerThatDiesEndsItsFetch) {
  joiner_.Share(kFirst, Nothing());
  const RequestId fetch = joiner_.Fetch(kFirst);
  joiner_.told.clear();
  joiner_.Do([&](StepContext& step) { joiner_.exchange.OnWorkerGone(step, kFirst); });
  EXPECT_EQ(joiner_.StatusOf(fetch).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(joiner_.TakeTold<FetchEnded>().size(), 1u);
}

TEST_F(StateExchangeTest, WhatWaitsIsSaidAgainOnANewConnection) {
  joiner_.Share(kFirst, Nothing());
  joiner_.Do([&](StepContext& step) { joiner_.exchange.OnSchedulerConnected(step, Term(1)); });
  joiner_.Fetch(kFirst);
  joiner_.told.clear();
  joiner_.Do([&](StepContext& step) { joiner_.exchange.OnSchedulerConnected(step, Term(1)); });
  EXPECT_EQ(joiner_.TakeTold<StateWanted>(), std::vector<StateWanted>{{1}});
}

TEST_F(StateExchangeTest, ANewStartOfTheSchedulerEndsEveryHold) {
  FetchFromHolder();
  joiner_.told.clear();
  joiner_.Do([&](StepContext& step) { joiner_.exchange.OnSchedulerConnected(step, Term(2)); });
  holder_.Do([&](StepContext& step) { holder_.exchange.OnSchedulerConnected(step, Term(2)); });
  EXPECT_TRUE(holder_.StatusOf(held_).ok());
  EXPECT_EQ(joiner_.TakeTold<StateWanted>(), std::vector<StateWanted>{{1}});
  joiner_.Hear(Released());
  EXPECT_EQ(joiner_.engine.back(), "abstain from all") << "its state is old, and the others go on without it";
}

TEST_F(StateExchangeTest, TheEndOfATransferThatWasLostIsNotWaitedFor) {
  const std::vector<std::string> waits = {"abstain", "abstain until"};
  const std::vector<std::string> waits_no_more = {"abstain", "abstain until", "abstain from all"};
  joiner_.Share(kFirst, Nothing());
  joiner_.Fetch(kFirst);
  joiner_.Hear(Holders({NodeId(1), NodeId(2)}));
  joiner_.Hear(StateReleased{Term(1), TransferId(8), 0, absl::StatusCode::kOk, ""});
  joiner_.Hear(Sought());
  EXPECT_EQ(joiner_.engine, waits) << "of this transfer, or an earlier one";
  joiner_.told.clear();
  joiner_.Hear(Released());
  EXPECT_EQ(joiner_.engine, waits_no_more);
  EXPECT_EQ(joiner_.TakeTold<StateWanted>(), std::vector<StateWanted>{{1}});
}

TEST_F(StateExchangeTest, ALaterTransferEndsTheWaitForAnEarlierOne) {
  joiner_.Share(kFirst, Nothing());
  joiner_.Fetch(kFirst);
  joiner_.Hear(Holders({NodeId(1), NodeId(2)}));
  joiner_.told.clear();
  joiner_.Hear(StateSought{Term(1), TransferId(10), "n3 fetches the state"});
  EXPECT_EQ(joiner_.engine.back(), "abstain from all");
  EXPECT_EQ(joiner_.TakeTold<StateWanted>(), std::vector<StateWanted>{{1}});
}

TEST_F(StateExchangeTest, ASilentSchedulerHoldsNobody) {
  const RequestId fetch = FetchFromHolder();
  joiner_.told.clear();
  joiner_.Do([&](StepContext& step) { joiner_.exchange.OnSchedulerSilent(step); });
  joiner_.Do([&](StepContext& step) { joiner_.exchange.OnSchedulerSilent(step); });
  EXPECT_EQ(joiner_.engine, (std::vector<std::string>{"abstain", "abstain until", "abstain from all"}));
  EXPECT_EQ(joiner_.TakeTold<StateWanted>(), std::vector<StateWanted>{{1}}) << "it may only have been stopped";
  EXPECT_EQ(joiner_.completed.count(fetch), 0u);
  holder_.Do([&](StepContext& step) { holder_.exchange.OnSchedulerSilent(step); });
  EXPECT_TRUE(holder_.StatusOf(held_).ok());
}

TEST_F(StateExchangeTest, AStateWaitsForTheResultsOfItsRounds) {
  joiner_.has_results = false;
  const RequestId fetch = FetchFromHolder();
  EXPECT_EQ(joiner_.memories.at(kFirst), state_);
  EXPECT_TRUE(joiner_.TakeTold<FetchEnded>().empty()) << "they might be made again, of others";
  joiner_.has_results = true;
  joiner_.Do([&](StepContext& step) { joiner_.exchange.OnRoundComplete(step); });
  joiner_.Do([&](StepContext& step) { joiner_.exchange.OnRoundComplete(step); });
  EXPECT_EQ(joiner_.TakeTold<FetchEnded>(), (std::vector<FetchEnded>{{kTransfer, 1, true, ""}}));
  joiner_.Hear(Released(1));
  EXPECT_TRUE(joiner_.StatusOf(fetch).ok());
}

TEST_F(StateExchangeTest, ACallBehindAnotherOneTimesOut) {
  FetchFromHolder();
  joiner_.Share(kSecond, Nothing());
  const RequestId second = joiner_.Fetch(kSecond, absl::Seconds(1));
  joiner_.PassTime(absl::Seconds(1));
  EXPECT_EQ(joiner_.StatusOf(second).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(joiner_.exchange.NextDeadline(), kNever);
}

TEST_F(StateExchangeTest, TheJobsEndEndsEveryCall) {
  const RequestId fetch = FetchFromHolder();
  joiner_.Do([&](StepContext& step) { joiner_.exchange.FailAll(step, absl::UnavailableError("the job has ended")); });
  EXPECT_EQ(joiner_.StatusOf(fetch), absl::UnavailableError("the job has ended"));
  holder_.Do([&](StepContext& step) { holder_.exchange.FailAll(step, absl::UnavailableError("the job has ended")); });
  EXPECT_EQ(holder_.StatusOf(held_), absl::UnavailableError("the job has ended"));
}

}  // namespace
}  // namespace banyan
