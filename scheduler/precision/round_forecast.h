// Predicts rounds of slices, as votes and as floats: work for the compute pool, since one size among a hundred nodes
// takes up to half a second. Owned by the core or the driver, as the Computation interface says.
#ifndef BANYAN_SCHEDULER_PRECISION_ROUND_FORECAST_H_
#define BANYAN_SCHEDULER_PRECISION_ROUND_FORECAST_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "proto/precision/vote_rules.h"
#include "protocol/computation.h"
#include "scheduler/state/policy_record.h"
#include "topology/evaluation/round_time.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PRECISION_ROUND_FORECAST_H_
