// A scheduler's transfers and nodes' exchanges of training states together, in a small model of a job: rounds that wait
// for all members, epochs, connections that break, nodes and schedulers that die. Random schedules of faults: whatever
// happens, every fetch ends, a worker that got the state has that of the step after which it begins, and nobody is held
// in the end.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/digest.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "node/state/state_exchange.h"
#include "node/step_context.h"
#include "scheduler/transfer/state_transfer.h"

namespace banyan {
namespace {

constexpr uint32_t kNodes = 5;
constexpr WorkerId kWorker(0);
constexpr int64_t kStateBytes = 6'000;

std::vector<uint8_t> StateAfter(uint64_t step) {
  std::vector<uint8_t> bytes(kStateBytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>((i * 131 + step * 7919) >> 3);
  return bytes;
}

class Job;

// A node with one worker, which trains from step to step, or fetches first.
class Node : private StateWorkers {
 public:
  Node(Job* job, uint32_t id, bool fetches) : job_(job), id_(id), is_fetching(fetches) {}

  void Start();
  void PassBoundary();
  void BeginEpoch() { exchange.OnEpochBegin(); }
  void UsePlan() {
    Do([this](StepContext& now) { exchange.OnEpochPlan(now); });
  }
  void Hear(const Message& message, const Payload& payload);
  void Connect(Term term) {
    Do([this, term](StepContext& now) { exchange.OnSchedulerConnected(now, term); });
  }
  void OnDeadline() {
    Do([this](StepContext& now) { exchange.OnDeadline(now); });
  }

 private:
  Job* job_;
  const uint32_t id_;
  Actions actions_;
  RejectionLog rejections_;
  StateMail mail_;
  uint64_t last_request_ = 0;
  std::optional<RequestId> fetch_call_;
  std::optional<RequestId> boundary_call_;
  bool is_held_ = false;
  std::vector<uint8_t> memory_ = std::vector<uint8_t>(kStateBytes);

  void Fetch();
  void PushSoon();
  void WaitNoLonger();
  void Answer(const StateTask& task);
  // Does something to the exchange, and carries what comes of it.
  void Do(const std::function<void(StepContext& now)>& happens);
  void OnCompleted(const CompleteRequest& call);

  std::vector<KeysPushed> PushedBy(WorkerId) const override { return {{KeyId(1), KeyId(1), Round(step)}}; }
  bool HasState(WorkerId) const override { return true; }
  bool HasMissedNothing(WorkerId) const override { return false; }
  void Abstain(StepContext&, WorkerId) override { WaitNoLonger(); }
  void AbstainUntil(StepContext&, const std::vector<KeysPushed>& pushed) override {
    begins_with = pushed[0].round.value() + 1;
  }
  void AbstainFromAll(StepContext&) override { WaitNoLonger(); }
  bool HasResultsOf(const std::vector<KeysPushed>& pushed) const override;
  void BeginAfter(StepContext&, WorkerId, const std::vector<KeysPushed>& pushed) override {
    step = pushed[0].round.value();
  }
  void BeginAnywhere(StepContext&, WorkerId) override { WaitNoLonger(); }

 public:
  uint64_t step = 0;  // of the worker's memory
  bool is_fetching;
  bool has_pushed = false;              // the round after `step`
  std::optional<uint64_t> begins_with;  // the first round from which a node that fetches does not abstain
  StateExchange exchange{{.stall_after = absl::Seconds(2)}, &mail_, this};
};

class Job {
 public:
  explicit Job(uint64_t seed) : random_(seed) {
    NewScheduler();
    for (uint32_t id = 1; id <= kNodes; ++id) members_.insert(NodeId(id));
    for (uint32_t id = 1; id <= kNodes; ++id) StartNode(id, /*fetches=*/false);
    Send(scheduler_->SetMembers(MembersNow()));
    participants_ = members_;
  }

  // Runs faults for a while, and then until all is quiet.
  void Run() {
    for (int fault = 0; fault < 6; ++fault) After(Between(100, 4000), [this] { Break(); });
    RunUntil(absl::Seconds(5));
    RunUntil(absl::Seconds(25));
    for (auto& [id, node] : nodes_) {
      EXPECT_FALSE(node->is_fetching) << "n" << id << " " << node->exchange.fetcher().Describe();
      EXPECT_FALSE(node->exchange.server().is_holding()) << "n" << id;
    }
    EXPECT_EQ(scheduler_->phase(), StateTransfer::Phase::kIdle) << scheduler_->Describe();
    const uint64_t before = LastStep();
    RunUntil(absl::Seconds(27));
    EXPECT_GT(LastStep(), before + 10) << "training goes on";
  }

  Timestamp now() const { return now_; }
  Term term() const { return term_; }
  Random& random() { return random_; }
  void After(absl::Duration delay, std::function<void()> happens) { due_.emplace(now_ + delay, std::move(happens)); }
  absl::Duration Between(int64_t low_ms, int64_t high_ms) {
    return absl::Milliseconds(low_ms + static_cast<int64_t>(random_.Below(high_ms - low_ms + 1)));
  }
  Node* Find(uint32_t id) {
    const auto found = nodes_.find(id);
    return found == nodes_.end() ? nullptr : found->second.get();
  }
  // Calls this start of the node, if it lives by then.
  void AfterFor(uint32_t id, absl::Duration delay, std::function<void(Node&)> happens) {
    After(delay, [this, id, life = lives_[id], happens = std::move(happens)] {
      if (Node* node = Find(id); node != nullptr && lives_[id] == life) happens(*node);
    });
  }

  void ToScheduler(uint32_t from, Message message) {
    if (!connected_[from]) return;
    InOrder(from, 0, [this, from, message = std::move(message), connection = connections_[from]] {
      if (connections_[from] != connection) return;
      const NodeId node(from);
      if (const auto* wanted = std::get_if<StateWanted>(&message)) Send(scheduler_->OnWanted(node, *wanted));
      if (const auto* held = std::get_if<BoundaryHeld>(&message)) Send(scheduler_->OnHeld(now_, node, *held));
      if (const auto* none = std::get_if<NoState>(&message)) Send(scheduler_->OnNoState(node, *none));
      if (const auto* ended = std::get_if<FetchEnded>(&message)) Send(scheduler_->OnFetchEnded(node, *ended));
    });
  }
  void ToNode(uint32_t from, uint32_t to, Message message, Payload payload) {
    const bool is_chunk = std::holds_alternative<ChunkMessage>(message);
    InOrder(from, to, [=, this, life = lives_[to], epoch = epochs_begun_[from]] {
      Node* node = Find(to);
      if (node == nullptr || lives_[to] != life) return;
      if (is_chunk && epochs_begun_[from] != epoch) return;  // dropped where it was
      node->Hear(message, payload);
    });
  }

  // The worker of this node has pushed the round after its step.
  void OnPushed() {
    if (is_changing_) return;
    uint64_t round = UINT64_MAX;
    for (NodeId id : participants_) {
      const Node* node = Find(id.value());
      if (node == nullptr) return;
      // One that begins later is waited for only from its first round on.
      if (node->is_fetching && node->begins_with.has_value()) return;
      if (node->is_fetching) continue;
      if (!node->has_pushed) return;
      round = std::min(round, node->step + 1);
    }
    if (round == UINT64_MAX) return;
    for (NodeId id : participants_) {
      Node* node = Find(id.value());
      if (node->is_fetching) continue;
      ASSERT_EQ(node->step + 1, round) << "n" << id << " is in another round than others";
      node->has_pushed = false;
      node->step = round;
      AfterFor(id.value(), Between(0, 5), [](Node& one) { one.PassBoundary(); });
    }
  }
  // Steps that the job has gone beyond.
  uint64_t LastStep() {
    uint64_t last = 0;
    for (auto& [id, node] : nodes_) {
      if (!node->is_fetching) last = std::max(last, node->step);
    }
    return last;
  }

 private:
  void StartNode(uint32_t id, bool fetches) {
    ++lives_[id];
    ++connections_[id];
    connected_[id] = true;
    nodes_[id] = std::make_unique<Node>(this, id, fetches);
    nodes_[id]->Connect(term_);
    AfterFor(id, Between(1, 50), [](Node& node) { node.Start(); });
  }
  void NewScheduler() {
    term_ = term_.Next();
    scheduler_ = std::make_unique<StateTransfer>(
        StateTransfer::Settings{term_},
        StateTransfer::Surroundings{[](NodeId node) { return absl::StrCat("n", node.value()); },
                                    [](NodeId from) {
                                      std::map<NodeId, std::vector<NodeId>> paths = {{from, {from}}};
                                      for (uint32_t id = 1; id <= kNodes; ++id) {
                                        if (NodeId(id) != from) paths[NodeId(id)] = {from, NodeId(id)};
                                      }
                                      return paths;
                                    }});
  }

  StateTransfer::Members MembersNow() {
    StateTransfer::Members members;
    for (NodeId id : members_) members[id] = Incarnation(lives_[id.value()]);
    return members;
  }

  void Break() {
    const auto id = static_cast<uint32_t>(1 + random_.Below(kNodes));
    switch (random_.Below(4)) {
      case 0:
      case 1:
        // Somebody keeps the state.
        if (Find(id) == nullptr || !AnotherTrains(id)) return;
        return Kill(id);
      case 2:
        return Reconnect(id);
      default:
        return RestartScheduler();
    }
  }
  bool AnotherTrains(uint32_t than) const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [than](const auto& node) { return node.first != than && !node.second->is_fetching; });
  }
  void Kill(uint32_t id) {
    nodes_.erase(id);
    ++lives_[id];
    ++connections_[id];
    After(Between(100, 1500), [this, id] {
      members_.erase(NodeId(id));
      ChangeEpoch();
      Send(scheduler_->SetMembers(MembersNow()));
      After(Between(10, 1000), [this, id] {
        members_.insert(NodeId(id));
        StartNode(id, /*fetches=*/true);
        ChangeEpoch();
        Send(scheduler_->SetMembers(MembersNow()));
      });
    });
  }
  void Reconnect(uint32_t id) {
    if (Find(id) == nullptr) return;
    connected_[id] = false;
    ++connections_[id];
    AfterFor(id, Between(10, 300), [this, id, connection = connections_[id]](Node& node) {
      if (connection != connections_[id]) return;
      connected_[id] = true;
      node.Connect(term_);
      Send(scheduler_->OnRejoined(NodeId(id)));
    });
  }
  void RestartScheduler() {
    NewScheduler();
    Send(scheduler_->SetMembers(MembersNow()));
    for (auto& [id, node] : nodes_) Reconnect(id);
    // A change that was under way begins anew.
    if (std::exchange(is_changing_, false)) ChangeEpoch();
  }

  void ChangeEpoch() {
    if (std::exchange(is_changing_, true)) return;
    ++epoch_;
    for (NodeId member : members_) {
      InOrderFor(member.value(), [this, id = member.value()](Node& node) {
        ++epochs_begun_[id];
        node.BeginEpoch();
      });
    }
    After(Between(50, 200), [this, term = term_, epoch = epoch_] {
      if (term == term_ && epoch == epoch_) Plan();
    });
  }
  void Plan() {
    is_changing_ = false;
    participants_.clear();
    for (NodeId member : members_) {
      const Node* node = Find(member.value());
      if (node == nullptr || !node->is_fetching || node->begins_with.has_value()) participants_.insert(member);
      InOrderFor(member.value(), [](Node& one) { one.UsePlan(); });
    }
    Send(scheduler_->OnEpochPlanned());
    After(absl::ZeroDuration(), [this] { OnPushed(); });
  }

  void Send(StateTransfer::Outcome outcome) {
    for (auto& [to, message] : outcome.messages) {
      const uint32_t id = to.value();
      if (!connected_[id]) continue;
      InOrder(0, id, [this, id, message = message, life = lives_[id], connection = connections_[id]] {
        if (connections_[id] != connection || lives_[id] != life || Find(id) == nullptr) return;
        Find(id)->Hear(message, {});
      });
    }
    if (outcome.begins_epoch) ChangeEpoch();
  }
  // What the control plane says, which nodes get whatever happens to a connection.
  void InOrderFor(uint32_t id, std::function<void(Node&)> happens) {
    InOrder(0, id, [this, id, life = lives_[id], happens = std::move(happens)] {
      if (Node* node = Find(id); node != nullptr && lives_[id] == life) happens(*node);
    });
  }
  void InOrder(uint32_t from, uint32_t to, std::function<void()> happens) {
    Timestamp& last = last_arrival_[{from, to}];
    last = std::max(last, now_ + Between(1, 20));
    due_.emplace(last, std::move(happens));
  }
  void RunUntil(absl::Duration time) {
    const Timestamp end = Timestamp() + time;
    while (!::testing::Test::HasFailure()) {
      Timestamp next = due_.empty() ? kNever : due_.begin()->first;
      next = std::min(next, scheduler_->NextDeadline());
      for (auto& [id, node] : nodes_) next = std::min(next, node->exchange.NextDeadline());
      if (next > end) break;
      now_ = std::max(now_, next);
      if (!due_.empty() && due_.begin()->first <= now_) {
        const std::function<void()> happens = std::move(due_.begin()->second);
        due_.erase(due_.begin());
        happens();
        continue;
      }
      if (scheduler_->NextDeadline() <= now_) Send(scheduler_->OnDeadline(now_));
      std::vector<Node*> late;
      for (auto& [id, node] : nodes_) {
        if (node->exchange.NextDeadline() <= now_) late.push_back(node.get());
      }
      for (Node* node : late) node->OnDeadline();
    }
    now_ = std::max(now_, end);
  }

  Random random_;
  Timestamp now_;
  std::multimap<Timestamp, std::function<void()>> due_;
  std::map<std::pair<uint32_t, uint32_t>, Timestamp> last_arrival_;
  Term term_;
  std::unique_ptr<StateTransfer> scheduler_;
  std::map<uint32_t, std::unique_ptr<Node>> nodes_;
  std::map<uint32_t, int> lives_;
  std::map<uint32_t, int> connections_;  // to the scheduler
  std::map<uint32_t, bool> connected_;
  std::map<uint32_t, int> epochs_begun_;  // by node
  std::set<NodeId> members_;
  std::set<NodeId> participants_;  // whom rounds of this epoch wait for
  bool is_changing_ = false;
  int epoch_ = 0;
};

void Node::Do(const std::function<void(StepContext& now)>& happens) {
  StepContext now{job_->now(), actions_, rejections_};
  happens(now);
  for (Action& action : std::exchange(actions_, {})) {
    if (const auto* call = std::get_if<CompleteRequest>(&action)) OnCompleted(*call);
    auto* const ask = std::get_if<AskWorker>(&action);
    if (ask == nullptr) continue;
    if (const auto* hold = std::get_if<HoldWorkers>(&ask->task)) is_held_ = hold->is_held;
    job_->AfterFor(id_, absl::Milliseconds(1), [this, task = std::move(ask->task)](Node&) { Answer(task); });
  }
  for (Message& message : std::exchange(mail_.to_scheduler, {})) job_->ToScheduler(id_, std::move(message));
  for (auto& [message, payload] : std::exchange(mail_.to_nodes, {})) {
    uint32_t to = 0;
    std::visit(
        [&to](const auto& concrete) {
          if constexpr (requires { concrete.route; }) to = concrete.route.destination().value();
        },
        message);
    job_->ToNode(id_, to, std::move(message), std::move(payload));
  }
}

void Node::Start() {
  memory_ = is_fetching ? std::vector<uint8_t>(kStateBytes) : StateAfter(0);
  Do([&](StepContext& now) {
    exchange.OnCall(now, WorkerShareState{RequestId(++last_request_), kWorker, {{{"weights", kStateBytes}}}});
  });
  if (is_fetching) return Fetch();
  has_pushed = true;
  job_->OnPushed();
}

void Node::Fetch() {
  fetch_call_ = RequestId(++last_request_);
  Do([&](StepContext& now) {
    exchange.OnCall(now, WorkerFetchState{*fetch_call_, kWorker, absl::InfiniteDuration()});
  });
}

void Node::PassBoundary() {
  memory_ = StateAfter(step);
  if (is_held_) {
    boundary_call_ = RequestId(++last_request_);
    return Do([&](StepContext& now) { exchange.OnCall(now, WorkerPassBoundary{*boundary_call_, kWorker, step}); });
  }
  PushSoon();
}

void Node::PushSoon() {
  job_->AfterFor(id_, job_->Between(5, 60), [this](Node&) {
    has_pushed = true;
    job_->OnPushed();
  });
}

void Node::OnCompleted(const CompleteRequest& call) {
  if (call.request == boundary_call_) {
    boundary_call_.reset();
    PushSoon();
  } else if (call.request == fetch_call_) {
    fetch_call_.reset();
    if (!call.status.ok()) return job_->AfterFor(id_, absl::Milliseconds(100), [](Node& node) { node.Fetch(); });
    EXPECT_EQ(memory_, StateAfter(call.step));
    EXPECT_EQ(step, call.step);
    EXPECT_LE(job_->LastStep(), call.step) << "a round is over that n" << id_ << " was to take part in";
    is_fetching = false;
    begins_with.reset();
    has_pushed = true;
    job_->AfterFor(id_, absl::ZeroDuration(), [this](Node&) { job_->OnPushed(); });
  }
}

void Node::WaitNoLonger() {
  begins_with.reset();
  job_->After(absl::ZeroDuration(), [job = job_] { job->OnPushed(); });
}

bool Node::HasResultsOf(const std::vector<KeysPushed>& pushed) const {
  return pushed[0].round.value() <= job_->LastStep();
}

void Node::Hear(const Message& message, const Payload& payload) {
  Do([&](StepContext& now) {
    if (const auto* sought = std::get_if<StateSought>(&message)) {
      if (sought->term == job_->term()) exchange.OnSought(now, *sought);
    } else if (const auto* holders = std::get_if<StateHolders>(&message)) {
      if (holders->term == job_->term()) exchange.OnHolders(now, *holders);
    } else if (const auto* released = std::get_if<StateReleased>(&message)) {
      if (released->term == job_->term()) exchange.OnReleased(now, *released);
    } else {
      exchange.OnPeerMessage(now, message, payload);
    }
  });
}

void Node::Answer(const StateTask& task) {
  const StateLayout layout(kStateBytes);
  if (const auto* read = std::get_if<ReadState>(&task)) {
    WorkerStateRead answer{kWorker, read->chunk, Buffer()};
    const absl::Span<const uint8_t> memory(memory_);
    if (boundary_call_.has_value() && read->chunk.has_value()) {
      answer.bytes = Buffer::CopyOfBytes(memory.subspan(layout.OffsetOf(*read->chunk), layout.SizeOf(*read->chunk)));
    } else if (boundary_call_.has_value()) {
      std::vector<uint64_t> hashes;
      for (ChunkIndex chunk(0); layout.Has(chunk); chunk = chunk.Next()) {
        hashes.push_back(DigestBytes(memory.subspan(layout.OffsetOf(chunk), layout.SizeOf(chunk)), 0));
      }
      answer.bytes = Buffer::CopyOfBytes({reinterpret_cast<const uint8_t*>(hashes.data()), hashes.size() * 8});
    }
    Do([&](StepContext& now) { exchange.OnCall(now, answer); });
  } else if (const auto* write = std::get_if<WriteState>(&task)) {
    if (is_fetching) {
      std::memcpy(memory_.data() + layout.OffsetOf(write->chunk), write->bytes.data(), write->bytes.size_bytes());
    }
    Do([&](StepContext& now) { exchange.OnCall(now, WorkerStateWritten{kWorker, write->chunk, is_fetching}); });
  }
}

TEST(StateJobTest, EveryFetchEndsWhateverBreaks) {
  for (uint64_t seed = 1; seed <= 100 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Job(seed).Run();
  }
}

}  // namespace
}  // namespace banyan
