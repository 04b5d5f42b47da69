#include "node/testing/test_cluster.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "compression/kernels/vector_math.h"
#include "core/check.h"
#include "proto/testing/wire_samples.h"

namespace banyan {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

// How a push is made, beside its values.
struct PushKind {
  int32_t priority = 0;
  bool wants_result = false;
  bool flush = false;
};

// Counts what is not finite, as sessions do.
WorkerPush PushOf(uint32_t worker, KeyId key, const std::vector<float>& gradient, PushKind kind) {
  return WorkerPush{{},
                    WorkerId(worker),
                    key,
                    Buffer::CopyOf(gradient),
                    kind.priority,
                    kind.wants_result,
                    kind.flush,
                    static_cast<uint64_t>(CountNotFinite(gradient))};
}

}  // namespace

TestCluster::TestCluster(JobConfig config, TestPlan plan) : scheduler_(config, plan), job_(config.job) {
  for (uint32_t node = 1; node <= plan.nodes; ++node) {
    nodes_[node] = std::make_unique<Node>();
    nodes_[node]->core = MakeCore(node, TestIncarnation(node));
  }
}

std::unique_ptr<NodeCore> TestCluster::MakeCore(uint32_t node, Incarnation incarnation) const {
  NodeOptions options;
  options.name = absl::StrCat("n", node);
  options.address = TestAddress(node);
  options.scheduler_addresses = {"tcp://10.0.0.99:7700"};
  options.job = job_;
  options.incarnation = incarnation;
  return std::make_unique<NodeCore>(std::move(options));
}

void TestCluster::Restart(uint32_t node) {
  dead_.erase(node);
  stopped_.erase(node);
  job_ends_.erase(node);
  std::erase_if(arrivals_, [node](const Arrival& arrival) { return arrival.node == node; });
  nodes_[node] = std::make_unique<Node>();
  nodes_[node]->core = MakeCore(node, Incarnation(TestIncarnation(node).value() + 1000 * ++restarts_));
  for (const auto& [other, state] : nodes_) {
    if (other != node) BreakConnections(other, node);
  }
  Step(node, Started{});
  Run();
}

void TestCluster::ChangeMembers(const std::set<uint32_t>& members, TestPlan plan) {
  scheduler_.ChangeMembers(members, std::move(plan));
  Run();
}

TestCluster::~TestCluster() = default;

void TestCluster::Start() {
  for (const auto& [node, state] : nodes_) {
    if (state->outbound.empty()) Step(node, Started{});
  }
  Run();
}

void TestCluster::Step(uint32_t node, Event event) {
  if (dead_.count(node) > 0) return;
  for (Action& action : nodes_.at(node)->core->Step(now_, std::move(event))) Carry(node, std::move(action));
}

void TestCluster::AnswerOfScheduler() {
  for (TestScheduler::Answer& answer : scheduler_.TakeAnswers()) {
    ExpectReadable(answer.message);
    arrivals_.push_back({answer.node, MessageReceived{kSchedulerConnection, std::move(answer.message), {}}});
  }
}

void TestCluster::Run() {
  do {
    AnswerOfScheduler();
    while (!arrivals_.empty()) {
      Arrival next = std::move(arrivals_.front());
      arrivals_.pop_front();
      Step(next.node, std::move(next.event));
      AnswerOfScheduler();
    }
  } while (StepOverdue());
}

bool TestCluster::StepOverdue() {
  bool has_stepped = false;
  for (const auto& [node, state] : nodes_) {
    if (dead_.count(node) > 0 || state->core->NextDeadline() > now_) continue;
    Step(node, DeadlineReached{});
    has_stepped = true;
  }
  return has_stepped;
}

void TestCluster::Advance(absl::Duration time) {
  const Timestamp end = now_ + time;
  while (true) {
    uint32_t first = 0;
    Timestamp when = end;
    for (const auto& [node, state] : nodes_) {
      if (dead_.count(node) > 0 || state->core->NextDeadline() > when) continue;
      if (first != 0 && state->core->NextDeadline() == when) continue;
      first = node;
      when = state->core->NextDeadline();
    }
    if (first == 0) break;
    now_ = std::max(now_, when);
    Step(first, DeadlineReached{});
    // What it leaves for the end of this moment, too.
    Run();
  }
  now_ = end;
}

void TestCluster::Carry(uint32_t from, Action action) {
  std::visit(Overloaded{[&](Connect& connect) { Carry(from, std::move(connect)); },
                        [&](Disconnect& disconnect) { nodes_.at(from)->outbound.erase(disconnect.connection); },
                        [&](Renew&) {}, [&](Pace&) {}, [&](Send& send) { Carry(from, std::move(send)); },
                        [&](StartComputation& start) {
                          start.computation->Run();
                          (hold_computations.contains(from) ? held_ : arrivals_)
                              .push_back({from, ComputationFinished{start.id, std::move(start.computation)}});
                        },
                        [&](WriteResult& write) {
                          BANYAN_CHECK(completions_.count(write.request) == 0);
                          writes_[write.request].push_back(write);
                          if (write.values.type() != DataType::kFloat32) return;
                          std::vector<float>& result = results_[write.request];
                          const size_t end = write.first_element + write.values.elements();
                          if (result.size() < end) result.resize(end);
                          std::copy(write.values.floats().begin(), write.values.floats().end(),
                                    result.begin() + write.first_element);
                        },
                        [&](CompleteRequest& complete) {
                          // Each call is answered exactly once.
                          BANYAN_CHECK(completions_.emplace(complete.request, complete).second);
                        },
                        [&](NotifyRoundComplete& told) { told_complete_[from].push_back(told); },
                        [&](NotifyJobEnded& told) {
                          // Once, before the calls that this ends are answered.
                          BANYAN_CHECK(job_ends_.emplace(from, told.reason).second);
                        },
                        [&](AskWorker&) {}, [&](Admit&) {}, [&](NotifyMembers&) {}, [&](PersistRecord&) {},
                        [&](LogLine& line) { logs_.push_back(std::move(line)); },
                        [&](Stop& stop) { stopped_.emplace(from, stop.status); }},
             action);
}

uint32_t TestCluster::NodeAt(const std::string& address) const {
  for (const auto& [node, state] : nodes_) {
    if (TestAddress(node) == address) return node;
  }
  return 0;
}

void TestCluster::Carry(uint32_t from, Connect connect) {
  Node& node = *nodes_.at(from);
  BANYAN_CHECK(node.outbound.count(connect.connection) == 0);
  node.outbound[connect.connection] = NodeAt(connect.address);
  node.inbound_ends[connect.connection] = ConnectionId(next_inbound_++);
  arrivals_.push_back({from, ConnectionUp{connect.connection}});
}

void TestCluster::Carry(uint32_t from, Send send) {
  Node& node = *nodes_.at(from);
  auto to = node.outbound.find(send.connection);
  BANYAN_CHECK(to != node.outbound.end());
  const bool is_chunk = std::holds_alternative<ChunkMessage>(send.message);
  BANYAN_CHECK(is_chunk || send.payload.empty());
  ExpectReadable(send.message, send.payload);
  if (to->second == 0) return scheduler_.OnMessage(from, std::move(send.message));
  Deliver(from, to->second, node.inbound_ends.at(send.connection), std::move(send.message), std::move(send.payload));
}

void TestCluster::Deliver(uint32_t from, uint32_t to, ConnectionId connection, Message message, Payload payload) {
  if (cuts_.contains(std::minmax(from, to))) return;
  const Fate fate = filter ? filter(from, to, message) : Fate::kDeliver;
  if (fate == Fate::kDrop || dead_.count(from) > 0) return;
  if (fate == Fate::kTwice) arrivals_.push_back({to, MessageReceived{connection, message, payload}});
  std::deque<Arrival>& queue = fate == Fate::kHold ? held_ : arrivals_;
  queue.push_back({to, MessageReceived{connection, std::move(message), std::move(payload)}});
}

void TestCluster::ReleaseHeld() {
  for (Arrival& arrival : std::exchange(held_, {})) arrivals_.push_back(std::move(arrival));
  Run();
}

ConnectionId TestCluster::ConnectAs(uint32_t node, uint32_t claimed) {
  const ConnectionId connection(next_inbound_++);
  Inject(node, connection,
         PeerHello{kProtocolVersion, "job", scheduler_.term, NodeId(claimed), TestIncarnation(claimed)});
  return connection;
}

void TestCluster::Inject(uint32_t node, ConnectionId connection, Message message, Payload payload) {
  Step(node, MessageReceived{connection, std::move(message), std::move(payload)});
  Run();
}

void TestCluster::BreakConnections(uint32_t from, uint32_t to, bool comes_back) {
  Node& node = *nodes_.at(from);
  // What is on its way is lost with it.
  for (const auto& [connection, target] : node.outbound) {
    if (target != to || to == 0) continue;
    const ConnectionId end = node.inbound_ends[connection];
    std::erase_if(arrivals_, [&](const Arrival& arrival) {
      const auto* received = std::get_if<MessageReceived>(&arrival.event);
      return received != nullptr && arrival.node == to && received->connection == end;
    });
    node.inbound_ends[connection] = ConnectionId(next_inbound_++);
    arrivals_.push_back({to, ConnectionDown{end}});
    arrivals_.push_back({from, ConnectionDown{connection}});
    if (comes_back) arrivals_.push_back({from, ConnectionUp{connection}});
  }
}

void TestCluster::BreakSchedulerConnection(uint32_t node) {
  Step(node, ConnectionDown{kSchedulerConnection});
  Step(node, ConnectionUp{kSchedulerConnection});
}

RequestId TestCluster::Call(uint32_t node, WorkerCall call) {
  RequestId request(next_request_++);
  std::visit(
      [&](auto& concrete) {
        if constexpr (requires { concrete.request; }) concrete.request = request;
      },
      call);
  Step(node, WorkerCalled{std::move(call)});
  Run();
  return request;
}

RequestId TestCluster::Attach(uint32_t node, uint32_t worker, bool needs_state) {
  const RequestId request = Call(node, WorkerAttach{{}, WorkerId(worker)});
  if (!needs_state) {
    Step(node, StateCalled{WorkerShareState{RequestId(next_request_++), WorkerId(worker), {}}});
    Run();
  }
  return request;
}

RequestId TestCluster::Init(uint32_t node, uint32_t worker, const std::string& name, const std::vector<float>& values) {
  return Call(node, WorkerInit{{}, WorkerId(worker), name, Buffer::CopyOf(values)});
}

RequestId TestCluster::RefusedInit(uint32_t node, uint32_t worker, const std::string& name, absl::Status refused) {
  return Call(node, WorkerInit{{}, WorkerId(worker), name, Buffer(), {}, std::move(refused)});
}

RequestId TestCluster::Push(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& gradient,
                            int32_t priority) {
  return Call(node, PushOf(worker, key, gradient, {.priority = priority, .wants_result = true}));
}

RequestId TestCluster::PushOnly(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& gradient) {
  return Call(node, PushOf(worker, key, gradient, {}));
}

RequestId TestCluster::Flush(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& gradient) {
  return Call(node, PushOf(worker, key, gradient, {.wants_result = true, .flush = true}));
}

RequestId TestCluster::Pull(uint32_t node, uint32_t worker, KeyId key) {
  return Call(node, WorkerPull{{}, WorkerId(worker), key});
}

RequestId TestCluster::Broadcast(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& values) {
  return Call(node, WorkerBroadcast{{}, WorkerId(worker), key, Buffer::CopyOf(values), 0});
}

RequestId TestCluster::Barrier(uint32_t node, uint32_t worker) {
  return Call(node, WorkerBarrier{{}, WorkerId(worker)});
}

RequestId TestCluster::ReportHealth(uint32_t node, uint32_t worker, const TrainingHealth& health) {
  return Call(node, WorkerReportLoss{{},
                                     WorkerId(worker),
                                     static_cast<uint64_t>(health.step),
                                     health.loss,
                                     health.progress,
                                     health.learning_rate_fraction,
                                     health.metric});
}

RequestId TestCluster::RegisterWeights(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& weights) {
  return Call(node, WorkerRegisterWeights{{}, WorkerId(worker), key, Buffer::CopyOf(weights)});
}

RequestId TestCluster::DescribeWait(uint32_t node, uint32_t worker, const std::string& name) {
  return Call(node, WorkerDescribeWait{{}, WorkerId(worker), name});
}

void TestCluster::Detach(uint32_t node, uint32_t worker, bool clean) {
  Call(node, WorkerDetach{WorkerId(worker), clean});
}

void TestCluster::InitEverywhere(const std::vector<float>& values) {
  for (const auto& [node, state] : nodes_) Attach(node);
  for (const auto& [node, state] : nodes_) Init(node, 0, "w", values);
}

absl::Status TestCluster::StatusOf(RequestId request) const {
  auto entry = completions_.find(request);
  return entry == completions_.end() ? absl::UnknownError("still waits") : entry->second.status;
}

uint64_t TestCluster::Memory(uint32_t node, const std::string& what) const {
  const std::vector<NodeReport> reports = scheduler_.Said<NodeReport>(node);
  if (reports.empty()) return 0;
  for (const NodeReport::Memory& part : reports.back().memory) {
    if (part.what == what) return part.size_bytes;
  }
  return 0;
}

uint64_t TestCluster::Rejected(uint32_t node) const {
  const std::vector<NodeReport> reports = scheduler_.Said<NodeReport>(node);
  return reports.empty() ? 0 : reports.back().rejected_messages;
}

}  // namespace banyan
