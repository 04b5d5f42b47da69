// What money buys: for budgets of a round from the cheapest plan's price on, the fastest rounds that they allow. Pure.
#ifndef BANYAN_TOPOLOGY_ADVICE_PRICE_FRONTIER_H_
#define BANYAN_TOPOLOGY_ADVICE_PRICE_FRONTIER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "topology/network_view.h"
#include "topology/planner.h"

namespace banyan {

// So many budgets make a frontier, and some by which its end is found. Plans that are no faster than a cheaper one are
// left out.
inline constexpr int kFrontierPlans = 16;

struct FrontierPoint {
  double price = 0;           // of a round
  absl::Duration round_time;  // that is predicted
  double rate_bps = 0;
};

// Returns what is wrong where no link has a price.
absl::Status NoPrices();

// Returns the points by price, each faster than those before, for the model and the roots of `config`; its budget does
// not matter. Prices and times are those of plans (PlanForModel), the last one about as fast as without a budget.
// FAILED_PRECONDITION where no link has a price; other errors are PlanForModel's. REQUIRES: as PlanForModel.
absl::StatusOr<std::vector<FrontierPoint>> FindPriceFrontier(const NetworkView& view, const PlannerConfig& config);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_ADVICE_PRICE_FRONTIER_H_
