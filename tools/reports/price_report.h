// Prices of plans as text, as JSON and for gnuplot (`banyan plan`). Pure functions.
#ifndef BANYAN_TOOLS_REPORTS_PRICE_REPORT_H_
#define BANYAN_TOOLS_REPORTS_PRICE_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json_writer.h"
#include "topology/advice/price_frontier.h"
#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// What a plan costs, in the currency of the overlay's prices.
struct PlanPrice {
  double per_gb = 0;              // of the model
  std::optional<double> a_round;  // of a model that is known
  int64_t rounds = 0;             // of a training; 0: unknown
  // What each link costs, per 10^9 bytes of the model, by position in view.links(); empty where auxiliary paths are
  // planned to carry a part.
  std::vector<double> by_link;
};

// Returns it, empty where no link has a price. The policy must be valid for the view; `tensors` are sizes as in
// PlannerConfig, empty where the model is unknown.
std::optional<PlanPrice> PriceOfPlan(const Policy& policy, const NetworkView& view,
                                     const std::vector<PlannedTensor>& tensors, int64_t rounds);

// Lines of what a round and a training cost, and of the links that cost most.
std::string PriceText(const PlanPrice& price, const NetworkView& view);

// Writes price_per_gb, with a model round_price and, with rounds, training_price into an open object.
void WritePrice(const PlanPrice& price, JsonWriter& json);

// A line for each point: price, seconds and rate, and with rounds the price and the days of a training.
std::string FrontierText(const std::vector<FrontierPoint>& points, int64_t rounds);

// An array of objects: round_price, round_seconds, rate_mbps, with rounds training_price and training_seconds.
std::string FrontierJson(const std::vector<FrontierPoint>& points, int64_t rounds);

// Draws seconds over prices into an SVG file.
std::string FrontierGnuplot(const std::vector<FrontierPoint>& points, const std::string& svg_path);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_PRICE_REPORT_H_
