// A few NodeCores, a scripted scheduler and a network between them, for tests: messages arrive in the order in which
// they were sent, computations run at once, and time stands still unless a test moves it. Tests interfere through
// `filter`, the `hold_` switches and the functions that break connections. Thread-compatible; owned by a test.
#ifndef BANYAN_NODE_TESTING_TEST_CLUSTER_H_
#define BANYAN_NODE_TESTING_TEST_CLUSTER_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/node_core.h"
#include "node/testing/test_scheduler.h"
#include "proto/message.h"

namespace banyan {

class TestCluster {
 public:
  enum class Fate { kDeliver, kDrop, kTwice, kHold };

  // Nodes 1 to nodes.size() of the policy `plan`; they join at Start.
  TestCluster(JobConfig config, TestPlan plan);
  ~TestCluster();

  // Starts every node and lets it join.
  void Start();
  // Delivers all that is on its way, and all that follows from it.
  void Run();
  // Moves time and with it the nodes' deadlines.
  void Advance(absl::Duration time);

  // Calls of workers; the request that was made. Each is followed by Run. The first makes any call, and the others
  // those of float32.
  RequestId Call(uint32_t node, WorkerCall call);
  // One that does not `need_state` has said that it needs no training state of others, however late it is.
  RequestId Attach(uint32_t node, uint32_t worker = 0, bool needs_state = false);
  RequestId Init(uint32_t node, uint32_t worker, const std::string& name, const std::vector<float>& values);
  // An Init that the runtime has refused.
  RequestId RefusedInit(uint32_t node, uint32_t worker, const std::string& name, absl::Status refused);
  RequestId Push(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& gradient, int32_t priority = 0);
  RequestId PushOnly(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& gradient);
  RequestId Flush(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& gradient);
  RequestId Pull(uint32_t node, uint32_t worker, KeyId key);
  RequestId Broadcast(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& values);
  RequestId Barrier(uint32_t node, uint32_t worker);
  RequestId RegisterWeights(uint32_t node, uint32_t worker, KeyId key, const std::vector<float>& weights);
  RequestId ReportHealth(uint32_t node, uint32_t worker, const TrainingHealth& health);
  RequestId DescribeWait(uint32_t node, uint32_t worker, const std::string& name);
  void Detach(uint32_t node, uint32_t worker, bool clean);
  // Attaches worker 0 of every node and initialises "w" everywhere with `values`; its key is KeyId(1).
  void InitEverywhere(const std::vector<float>& values);

  bool IsDone(RequestId request) const { return completions_.count(request) > 0; }
  // REQUIRES: IsDone(request).
  const CompleteRequest& Completion(RequestId request) const { return completions_.at(request); }
  absl::Status StatusOf(RequestId request) const;
  // What was written into the request's result, piece by piece.
  const std::vector<WriteResult>& Writes(RequestId request) { return writes_[request]; }
  // The same of float32.
  const std::vector<float>& Result(RequestId request) { return results_[request]; }

  // What the node has told its workers of rounds that no call of theirs waits for, oldest first.
  const std::vector<NotifyRoundComplete>& ToldComplete(uint32_t node) { return told_complete_[node]; }
  // The end of the job, by the nodes that have told their workers of it.
  const std::map<uint32_t, absl::Status>& job_ends() const { return job_ends_; }

  // Hands an event to a node and carries out what it answers, without delivering it.
  void Step(uint32_t node, Event event);
  // A message from outside the cluster: on a fresh connection to `node` that said hello as `claimed`.
  ConnectionId ConnectAs(uint32_t node, uint32_t claimed);
  void Inject(uint32_t node, ConnectionId connection, Message message, Payload payload = {});
  // Both ends see every connection from one node to another end; with `comes_back` it is made again.
  void BreakConnections(uint32_t from, uint32_t to, bool comes_back = true);
  void BreakSchedulerConnection(uint32_t node);
  // From now on nothing arrives at the node and it does nothing.
  void Kill(uint32_t node) { dead_.insert(node); }
  // Starts the node, which was killed or never started, as a new incarnation. Others see their connections to it again.
  void Restart(uint32_t node);
  // From now on nothing passes between two nodes, or everything does again.
  void Cut(uint32_t one, uint32_t other) { cuts_.insert(std::minmax(one, other)); }
  void Heal(uint32_t one, uint32_t other) { cuts_.erase(std::minmax(one, other)); }
  // Changes members as TestScheduler::ChangeMembers does, and lets all that follows happen.
  void ChangeMembers(const std::set<uint32_t>& members, TestPlan plan);
  // Delivers what `filter` held back.
  void ReleaseHeld();

  // What the node's last report says of `what`; 0 without one.
  uint64_t Memory(uint32_t node, const std::string& what) const;
  uint64_t Rejected(uint32_t node) const;
  NodeCore& core(uint32_t node) { return *nodes_.at(node)->core; }
  TestScheduler& scheduler() { return scheduler_; }
  Timestamp now() const { return now_; }
  const std::vector<LogLine>& logs() const { return logs_; }
  const std::map<uint32_t, absl::Status>& stopped() const { return stopped_; }

  // Nodes whose computations finish only with ReleaseHeld.
  std::set<uint32_t> hold_computations;
  // What happens to a message between two nodes; everything is delivered without one.
  std::function<Fate(uint32_t from, uint32_t to, const Message& message)> filter;

 private:
  struct Node {
    std::unique_ptr<NodeCore> core;
    std::map<ConnectionId, uint32_t> outbound;          // to whom; 0 is the scheduler
    std::map<ConnectionId, ConnectionId> inbound_ends;  // of outbound connections
  };
  struct Arrival {
    uint32_t node = 0;
    Event event;
  };

  // Lets nodes handle deadlines that are due now. Returns whether there were any.
  bool StepOverdue();
  void Carry(uint32_t from, Action action);
  void Carry(uint32_t from, Connect connect);
  void Carry(uint32_t from, Send send);
  void Deliver(uint32_t from, uint32_t to, ConnectionId connection, Message message, Payload payload);
  void AnswerOfScheduler();
  std::unique_ptr<NodeCore> MakeCore(uint32_t node, Incarnation incarnation) const;
  uint32_t NodeAt(const std::string& address) const;

  std::map<uint32_t, std::unique_ptr<Node>> nodes_;
  TestScheduler scheduler_;
  std::deque<Arrival> arrivals_;
  std::deque<Arrival> held_;
  std::set<uint32_t> dead_;
  std::set<std::pair<uint32_t, uint32_t>> cuts_;
  uint64_t restarts_ = 0;
  std::string job_;
  Timestamp now_ = Timestamp::FromNanoseconds(1'000'000'000);
  uint64_t next_inbound_ = kInboundConnection.value();
  uint64_t next_request_ = 1;
  std::map<RequestId, CompleteRequest> completions_;
  std::map<RequestId, std::vector<float>> results_;
  std::map<RequestId, std::vector<WriteResult>> writes_;
  std::map<uint32_t, std::vector<NotifyRoundComplete>> told_complete_;
  std::map<uint32_t, absl::Status> job_ends_;
  std::map<uint32_t, absl::Status> stopped_;
  std::vector<LogLine> logs_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TESTING_TEST_CLUSTER_H_
