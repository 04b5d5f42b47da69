// Asks of each size of slice whether a low-bit round of it is predicted to be shorter than one of floats, on the links
// as they are planned with and the processors as nodes report them (NEURON-Fabric, Wang, Huang and Lung, 2026, section
// 6.4). Thread-compatible; owned by PrecisionControl.
//
// Invariants:
// - A size may go low-bit only as the latest prediction that is finished has it. Before there is one of it, it may not.
// - Of whoever has reported nothing it believes what the planners believe.
// - A rate is of the work of late: of each kind no more than the last kRememberedWork counts whole, and what was before
//   it less and less. So a processor that others begin to use shows in minutes, however long its node has run.
// - It asks anew when the policy is another, there is a new size, or a rate of a processor has changed by more than
//   kChange, or its number of threads at all.
#ifndef BANYAN_SCHEDULER_PRECISION_ENDPOINT_GUARD_H_
#define BANYAN_SCHEDULER_PRECISION_ENDPOINT_GUARD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "proto/precision/precision_report.h"
#include "proto/precision/vote_rules.h"
#include "protocol/computation.h"
#include "scheduler/state/policy_record.h"
#include "topology/evaluation/round_time.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Predicts rounds of slices, as votes and as floats: work for the compute pool, since one size among a hundred nodes
// takes up to half a second. Owned by the core or the driver, as the Computation interface says.
class RoundForecast : public Computation {
 public:
  // A round must be predicted to be shorter by this part: predictions are not that good.
  static constexpr double kMargin = 0.05;

  struct Prediction {
    TensorRound low_bit;
    TensorRound full;
    // Also among other tensors, where a round takes as long as its busiest link or processor.
    bool is_shorter() const {
      return low_bit.time < (1 - kMargin) * full.time && low_bit.busy < (1 - kMargin) * full.busy;
    }
  };
  using Predictions = std::map<GuardedSize, Prediction>;

  // Of slices of these sizes, each as a tensor of its own. `processors` are by positions of the view's nodes.
  RoundForecast(Policy policy, NetworkView view, const VoteRules& rules, std::vector<RoundWork::Processor> processors,
                std::vector<GuardedSize> sizes);

  void Run() override;
  int64_t size_bytes() const override;

  // After Run().
  const Predictions& predictions() const { return predictions_; }

 private:
  Prediction Predict(const GuardedSize& size) const;

  Policy policy_;
  NetworkView view_;
  VoteRules rules_;
  std::vector<RoundWork::Processor> processors_;
  std::vector<GuardedSize> sizes_;
  Predictions predictions_;
};

class EndpointGuard {
 public:
  static constexpr double kChange = 0.25;
  static constexpr absl::Duration kRememberedWork = absl::Seconds(5);

  explicit EndpointGuard(const VoteRules& rules) : rules_(rules) {}

  // Takes what a node reports of its processors: totals since it began.
  void OnReport(NodeId node, const PrecisionReport& report);
  bool Knows(NodeId node) const { return processors_.contains(node); }
  // Returns what predicts the rounds of slices of these sizes; null where nothing has changed since it was last asked.
  // `workers` are by positions of the view's nodes.
  std::unique_ptr<RoundForecast> Ask(const Policy& policy, const NetworkView& view, const std::vector<double>& workers,
                                     const std::vector<GuardedSize>& sizes);
  // Takes a prediction that is finished.
  void Take(const RoundForecast& done);
  // Goes on as a scheduler before this one, which had found these sizes shorter.
  void Restore(std::set<GuardedSize> allowed) { allowed_ = std::move(allowed); }

  // Returns whether slices of this size may go low-bit.
  bool Allows(const GuardedSize& size) const { return allowed_.contains(size); }
  // The latest that are finished.
  const RoundForecast::Predictions& predictions() const { return predictions_; }

 private:
  // Work of one kind at one node.
  struct Work {
    PrecisionReport::Service reported;  // last
    double bytes = 0;                   // of late
    absl::Duration time;
  };

  VoteRules rules_;
  std::map<NodeId, RoundWork::Processor> processors_;
  std::map<std::pair<NodeId, ServiceKind>, Work> work_;
  // When it was last asked.
  std::map<NodeId, RoundWork::Processor> used_;
  PolicyVersion policy_;
  std::set<GuardedSize> asked_;
  RoundForecast::Predictions predictions_;
  std::set<GuardedSize> allowed_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PRECISION_ENDPOINT_GUARD_H_
