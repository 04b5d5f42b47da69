// A simulated job as a whole, and the times of its rounds.
#ifndef BANYAN_SIM_CLUSTER_H_
#define BANYAN_SIM_CLUSTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "sim/checkers/ack_checker.h"
#include "sim/checkers/chunk_watch.h"
#include "sim/checkers/contributor_checker.h"
#include "sim/checkers/leader_checker.h"
#include "sim/checkers/membership_watch.h"
#include "sim/checkers/policy_checker.h"
#include "sim/checkers/precision_checker.h"
#include "sim/checkers/replica_checker.h"
#include "sim/checkers/result_checker.h"
#include "sim/checkers/route_checker.h"
#include "sim/checkers/scale_checker.h"
#include "sim/checkers/slice_routes.h"
#include "sim/cluster_options.h"
#include "sim/job_processes.h"
#include "sim/processes/simulated_operator.h"
#include "sim/processes/simulated_worker.h"
#include "sim/processes/worker_listener.h"
#include "sim/simulator.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Takes the synchronisation time of each round: from the last member's push to the last member's completed pull.
// Thread-compatible; owned by the cluster.
class RoundClock : public WorkerListener {
 public:
  struct Times {
    Timestamp last_push;
    Timestamp last_pull;

    absl::Duration Synchronisation() const { return last_pull - last_push; }
  };

  void OnPushed(Timestamp now, WorkerName /*worker*/, size_t /*tensor*/, Round round) override {
    rounds_[round].last_push = now;
  }
  void OnResult(Timestamp now, WorkerName /*worker*/, size_t /*tensor*/, Round round,
                absl::Span<const float> /*values*/) override {
    if (round > Round(0)) rounds_[round].last_pull = now;
  }

  // All tensors together. Rounds from 1.
  const std::map<Round, Times>& rounds() const { return rounds_; }

 private:
  std::map<Round, Times> rounds_;
};

// A whole job in simulated time: the scheduler, a node and its workers for each data centre of an overlay, the links
// between them, and the checkers that watch. Thread-compatible.
class Cluster : private WorkerListener {
 public:
  struct Failure {
    Timestamp when;
    WorkerName worker;
    std::string call;
    absl::Status status;
  };

  explicit Cluster(ClusterOptions options);
  ~Cluster();

  // Until every worker has done all its rounds. False, and a violation that says who waits for what, when they have not
  // at `limit`.
  bool RunUntilTrained(Timestamp limit);
  // Until `quiet_at`, and until every worker but those of the nodes in `gone` has done all its rounds after that.
  // False, and a violation likewise, when they have not `recovery` later, or when a call has failed that may not.
  // `gone` may grow until then.
  bool RunUntilStayersTrained(Timestamp quiet_at, const std::set<NodeId>& gone, absl::Duration recovery);
  // Until every worker has finished or its calls have failed; false when some still wait at `limit`, with a violation
  // likewise.
  bool RunUntilNobodyWaits(Timestamp limit);
  // Asks every node, then the scheduler, to stop, and runs until they have; false, with a violation, when one has not
  // at `limit`.
  bool StopAll(Timestamp limit);

  Simulator* simulator() { return &simulator_; }
  Violations* violations() { return simulator_.violations(); }
  size_t node_count() const { return options_.overlay.nodes.size(); }
  const OverlayConfig& overlay() const { return options_.overlay; }
  int64_t scale() const { return options_.scale; }
  // The newest start of it.
  SimulatedWorker* worker(NodeId node, WorkerId worker) { return workers().at({node, worker}); }
  const std::map<WorkerName, SimulatedWorker*>& workers() const { return processes_->workers(); }
  // Ends and starts them.
  JobProcesses* processes() { return processes_.get(); }
  // All calls that failed, in the order of time, but for those that may when membership changes.
  const std::vector<Failure>& failures() const { return failures_; }
  // Returns whether the job is over because all nodes are gone that had the parameters and what the optimizer keeps.
  bool HasLostParameters() const;
  const RoundClock& clock() const { return clock_; }
  const ResultChecker& results() const { return *results_; }
  // The newest epoch with a policy.
  Epoch epoch() const { return membership_.epoch(); }
  // nullptr without fields.
  ContributorChecker* contributors() { return contributors_.get(); }
  // Null where workers share no training state.
  const ReplicaChecker* replicas() const { return replicas_.get(); }
  // nullptr without check_messages.
  const RouteChecker* routes() const { return routes_.get(); }
  // Without check_messages, null.
  const PrecisionChecker* precision() const { return precision_.get(); }
  // Null where no round may be low-bit.
  const ScaleChecker* scales() const { return scales_.get(); }
  // nullptr without orders.
  const SimulatedOperator* job_operator() const { return processes_->job_operator(); }
  // Rounds that every worker has done.
  uint64_t rounds_done() const;
  std::string WhoWaits() const;

 private:
  class EncodingChecker;

  void AddLinks();
  void ScheduleLinkChanges();
  void RedrawLinksLater(uint64_t index);
  // Has what others send on a link come at that time after the start, and what follows it. REQUIRES: it is on then.
  void SendTrafficLater(const CrossTraffic& traffic, absl::Duration at);
  void ChangeLink(const LinkChange& change);
  void AddResultCheckers();
  void AddMessageCheckers();
  void AddPrecisionCheckers();
  void ReportWaiting(const std::string& what);
  // Processes that have ended and workers that can do no more, each after a comma.
  std::string WhoIsAway() const;

  void OnStarted(Timestamp now, WorkerName worker) override;
  void OnEnded(Timestamp now, WorkerName worker) override;
  void OnPushed(Timestamp now, WorkerName worker, size_t tensor, Round round) override;
  void OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float> values) override;
  void OnReplica(Timestamp now, WorkerName worker, const ReplicaMark& replica) override;
  void OnBeganAlone(Timestamp now, WorkerName worker, Timestamp asked_at) override;
  void OnFailed(Timestamp now, WorkerName worker, const std::string& call, const absl::Status& status) override;
  void OnMisuse(Timestamp now, WorkerName worker, const std::string& what) override;

  const ClusterOptions options_;
  Simulator simulator_;
  std::vector<std::pair<NodeId, NodeId>> link_ends_;  // of all directed links
  const OverlayConfig scaled_;
  std::unique_ptr<JobProcesses> processes_;
  std::unique_ptr<ResultChecker> results_;
  MembershipWatch membership_;
  std::unique_ptr<LeaderChecker> leaders_;
  std::unique_ptr<ChunkWatch> chunks_;
  std::unique_ptr<ContributorChecker> contributors_;
  std::unique_ptr<ReplicaChecker> replicas_;
  std::unique_ptr<PolicyChecker> policies_;
  std::unique_ptr<AckChecker> acks_;
  std::unique_ptr<RouteChecker> routes_;
  std::unique_ptr<SliceRoutes> slices_;
  std::unique_ptr<PrecisionChecker> precision_;
  std::unique_ptr<ScaleChecker> scales_;
  std::unique_ptr<EncodingChecker> encoding_;
  RoundClock clock_;
  std::vector<Failure> failures_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CLUSTER_H_
