// A policy for people, programs and graphviz. Pure functions.
#ifndef BANYAN_TOOLS_REPORTS_PLAN_REPORT_H_
#define BANYAN_TOOLS_REPORTS_PLAN_REPORT_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "tools/reports/price_report.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Rates, bound and ratio, and a table of the trees. Then follow their edges, caps of hosts and links, the routes and
// the auxiliary paths. The policy must be valid for the view; with a model `least_round` is its LeastRoundTime. `price`
// is what PriceOfPlan says.
std::string PlanText(const Policy& policy, const NetworkView& view, absl::Duration least_round = absl::ZeroDuration(),
                     const std::optional<PlanPrice>& price = std::nullopt);

// One object, with what WritePrice writes where there are prices: planner, rate_mbps, auxiliary_rate_mbps, bound_mbps,
// bound_ratio, with a model round_seconds and least_round_seconds, trees, routes, auxiliary, shared (what links share:
// `mbps` and `links`). Rates are of the model, as in Policy, and null when nothing limits them; bound_ratio is
// BoundRatio.
std::string PlanJson(const Policy& policy, const NetworkView& view, absl::Duration least_round = absl::ZeroDuration(),
                     const std::optional<PlanPrice>& price = std::nullopt);

// One cluster for each tree; reduce edges are solid, broadcast edges dashed. One more for the auxiliary paths, dotted.
std::string PlanDot(const Policy& policy, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_PLAN_REPORT_H_
