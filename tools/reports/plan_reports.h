// What `banyan plan` prints for people, programs, gnuplot and graphviz: policies, their prices, what training comes to
// over them, and advice on upgrades.
// Pure functions.
#ifndef BANYAN_TOOLS_REPORTS_PLAN_REPORTS_H_
#define BANYAN_TOOLS_REPORTS_PLAN_REPORTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/json_writer.h"
#include "proto/compression/codec_id.h"
#include "topology/advice/price_frontier.h"
#include "topology/advice/upgrade_advice.h"
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

// What binds, what more of it is worth, the three best upgrades, and what is faster than it need be. `model_bits` is
// the size of the model, 0 where it is unknown: then nothing is said of the time of a round.
std::string AdviceText(const UpgradeAdvice& advice, const NetworkView& view, double model_bits);

// One object: rate_mbps, bound_mbps, upgrades (name, mbps, worth, doubled_rate_mbps, and with a model
// seconds_per_mbps and doubled_seconds, of a round), spare (names).
std::string AdviceJson(const UpgradeAdvice& advice, const NetworkView& view, double model_bits);

// Returns which part of the bits of float32 gradients a codec sends; sparse ones keep one element in a hundred.
double SentPartOf(CodecId codec);

// What is asked of a training over a plan.
struct TrainingQuestion {
  const NetworkView& view;
  const Policy& policy;                   // of float32
  std::vector<PlannedTensor> model;       // not empty
  int64_t least_elements = 0;             // of a chunk
  absl::Duration step;                    // what a step takes without communication
  std::optional<int64_t> steps_per_sync;  // empty: the usual ones, and the fewest with which it reaches the target
  double target = 0;                      // of utilisation
  std::optional<double> round_price;      // of the model in float32; empty: there are no prices
};

inline constexpr int64_t kUsualStepsPerSync[] = {1, 8, 32, 128};

// A row for each codec: bytes, the round, utilisation by each method (topology/advice/training_forecast.h), and prices
// of a thousand steps.
std::string TrainingText(const TrainingQuestion& question);

// One object: step_seconds, target_utilisation, and `codecs`, an array of objects: codec, bytes_per_element,
// round_seconds, attach, diloco_N and streaming_N (parts of 1), and where N is not said diloco_fewest_steps and
// streaming_fewest_steps, null where a million are too few; with prices attach_price, diloco_price, streaming_price.
std::string TrainingJson(const TrainingQuestion& question);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_PLAN_REPORTS_H_
