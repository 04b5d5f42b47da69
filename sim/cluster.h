// A whole job in simulated time: the scheduler, a node and its workers for each data centre of an overlay, the links
// between them, and the checkers that watch. Thread-compatible.
#ifndef BANYAN_SIM_CLUSTER_H_
#define BANYAN_SIM_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "protocol/protocol.h"
#include "sim/checkers/ack_checker.h"
#include "sim/checkers/encoding_checker.h"
#include "sim/checkers/policy_checker.h"
#include "sim/checkers/result_checker.h"
#include "sim/checkers/round_clock.h"
#include "sim/checkers/route_checker.h"
#include "sim/processes/simulated_operator.h"
#include "sim/processes/simulated_worker.h"
#include "sim/processes/worker_listener.h"
#include "sim/processes/worker_port.h"
#include "sim/simulator.h"
#include "sim/training/training_plan.h"
#include "topology/overlay/link_schedule.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

struct ClusterOptions {
  uint64_t seed = 1;
  // At full size; the cores see it scaled down.
  OverlayConfig overlay;
  // Its tensors have the elements that the cores carry, each standing for `scale` elements.
  TrainingPlan plan;
  int64_t scale = 1;
  NetworkOptions network;  // its scale is set from above
  ProcessOptions process;  // likewise, and its clock
  absl::Duration link_jitter;
  // The changes of the links: at these times, and again and again.
  std::vector<LinkChange> link_changes;
  std::optional<LinkRedraw> link_redraw;
  // Each process's clock drifts by up to this, to either side.
  double most_drift_ppm = 0;
  // The standard deviation of the error in the links' rates that nodes report; 0.1 is 10%.
  double measurement_noise = 0;
  // Links lose packets as the overlay says; a simulation of rates may leave that out.
  bool links_lose_packets = true;
  // Packets' headers and the transport's acknowledgements take their part of the links' rates.
  bool links_have_headers = false;
  // Processes start at random times within this.
  absl::Duration start_within;
  // The orders that an operator gives the scheduler, in order of time; at full size.
  std::vector<OperatorOrder> orders;
  // Watch every message, not only results.
  bool check_messages = true;
  // Turn every message into bytes and back, too.
  bool check_encoding = false;
  // Hears what all workers do, besides the checkers; outlives the cluster. nullptr for none.
  WorkerListener* listener = nullptr;
  // Puts something around a core, for tests that break it on purpose; empty for none.
  std::function<std::unique_ptr<Protocol>(NodeId, std::unique_ptr<Protocol>)> wrap_core;
};

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
  SimulatedWorker* worker(NodeId node, WorkerId worker) { return workers_.at({node, worker}).get(); }
  const std::map<WorkerName, std::unique_ptr<SimulatedWorker>>& workers() const { return workers_; }
  // All calls that failed, in the order of time.
  const std::vector<Failure>& failures() const { return failures_; }
  const RoundClock& clock() const { return clock_; }
  const ResultChecker& results() const { return *results_; }
  // nullptr without check_messages.
  const RouteChecker* routes() const { return routes_.get(); }
  // nullptr without orders.
  const SimulatedOperator* job_operator() const { return operator_; }
  // Rounds that every worker has done.
  uint64_t rounds_done() const;
  std::string WhoWaits() const;

 private:
  // Gives each answer of a node to the worker that asked.
  class Port : public WorkerPort {
   public:
    void Add(SimulatedWorker* worker) { workers_.push_back(worker); }
    void OnWriteResult(const WriteResult& write) override { WorkerOf(write.request)->OnWriteResult(write); }
    void OnComplete(const CompleteRequest& completion) override {
      WorkerOf(completion.request)->OnComplete(completion);
    }
    void OnRoundComplete(const TellRoundComplete& told) override {
      workers_.at(told.worker.value())->OnRoundComplete(told.key, told.round);
    }
    void OnEnded() override {
      for (SimulatedWorker* worker : workers_) worker->OnNodeEnded();
    }

   private:
    SimulatedWorker* WorkerOf(RequestId request) const { return workers_.at((request.value() >> 32) - 1); }

    std::vector<SimulatedWorker*> workers_;  // by WorkerId
  };

  void AddLinks();
  void ScheduleLinkChanges();
  void RedrawLinksLater(uint64_t index);
  void ChangeLink(const LinkChange& change);
  void AddProcesses();
  void AddScheduler(const OverlayConfig& scaled);
  void AddNode(const OverlayConfig& scaled, NodeId id);
  void AddOperator(const OverlayConfig& scaled);
  void AddCheckers(const OverlayConfig& scaled);
  ProcessOptions OptionsOfProcess();
  Timestamp RandomStart();
  std::unique_ptr<Protocol> Wrap(NodeId id, std::unique_ptr<Protocol> core) const;
  void ReportWaiting(const std::string& what);

  void OnPushed(Timestamp now, WorkerName worker, size_t tensor, Round round) override;
  void OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float> values) override;
  void OnFailed(Timestamp now, WorkerName worker, const std::string& call, const absl::Status& status) override;
  void OnMisuse(Timestamp now, WorkerName worker, const std::string& what) override;

  const ClusterOptions options_;
  Simulator simulator_;
  std::vector<std::pair<NodeId, NodeId>> link_ends_;  // of all directed links
  std::map<NodeId, Port> ports_;
  std::map<WorkerName, std::unique_ptr<SimulatedWorker>> workers_;
  std::unique_ptr<ResultChecker> results_;
  std::unique_ptr<PolicyChecker> policies_;
  std::unique_ptr<AckChecker> acks_;
  std::unique_ptr<RouteChecker> routes_;
  std::unique_ptr<EncodingChecker> encoding_;
  SimulatedOperator* operator_ = nullptr;  // owned by its process
  RoundClock clock_;
  std::vector<Failure> failures_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CLUSTER_H_
