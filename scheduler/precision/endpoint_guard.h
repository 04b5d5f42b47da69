// Asks of each size of slice whether a low-bit round of it is predicted to be shorter than one of floats, on the links
// as they are planned with and the processors as nodes report them (NEURON-Fabric, Wang, Huang and Lung, 2026, section
// 6.4). Thread-compatible; owned by PrecisionControl.
//
// Invariants:
// - Of whoever has reported nothing it believes what the planners believe.
// - It asks anew when the policy is another, or a rate of a processor has changed by more than kChange.
#ifndef BANYAN_SCHEDULER_PRECISION_ENDPOINT_GUARD_H_
#define BANYAN_SCHEDULER_PRECISION_ENDPOINT_GUARD_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "proto/precision/precision_report.h"
#include "proto/precision/vote_rules.h"
#include "scheduler/state/policy_record.h"
#include "topology/evaluation/round_time.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

class EndpointGuard {
 public:
  static constexpr double kChange = 0.25;
  // A round must be predicted to be shorter by this part: predictions are not that good.
  static constexpr double kMargin = 0.05;

  struct Prediction {
    absl::Duration low_bit;
    absl::Duration full;
    bool is_shorter() const { return low_bit < (1 - kMargin) * full; }
  };

  explicit EndpointGuard(const VoteRules& rules) : rules_(rules) {}

  // Takes what a node reports of its processors.
  void OnServices(NodeId node, const std::vector<PrecisionReport::Service>& services);
  bool Knows(NodeId node) const { return processors_.contains(node); }
  // Predicts the rounds of slices of these sizes, each as a tensor of its own, unless nothing has changed since.
  // `workers` are by positions of the view's nodes. Returns whether it did.
  bool Review(const Policy& policy, const NetworkView& view, const std::vector<double>& workers,
              const std::vector<GuardedSize>& sizes);
  const std::map<GuardedSize, Prediction>& predictions() const { return predictions_; }

 private:
  Prediction Predict(const Policy& policy, const NetworkView& view, const GuardedSize& size,
                     const std::vector<RoundWork::Processor>& processors) const;

  VoteRules rules_;
  std::map<NodeId, RoundWork::Processor> processors_;
  std::map<NodeId, RoundWork::Processor> used_;  // at the last review
  PolicyVersion policy_;                         // likewise
  std::map<GuardedSize, Prediction> predictions_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PRECISION_ENDPOINT_GUARD_H_
