#include "topology/advice/price_frontier.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "topology/evaluation/policy_value.h"
#include "topology/fit/model_fit.h"
#include "topology/fit/price_fit.h"

namespace banyan {
namespace {

// Money that buys less than this part of a round's time is not worth a point.
constexpr double kLeastGain = 1e-3;
// The part of the shortest round that its last point may take longer.
constexpr double kCloseToShortest = 5e-3;
// Halvings of the prices among which the last point is looked for.
constexpr int kHalvings = 5;

class Frontier {
 public:
  Frontier(const NetworkView& view, const PlannerConfig& config) : view_(view), config_(config) {}

  absl::StatusOr<std::vector<FrontierPoint>> Find() {
    absl::StatusOr<FrontierPoint> fastest = Plan(std::nullopt);
    if (!fastest.ok()) return fastest.status();
    absl::StatusOr<FrontierPoint> cheapest = Plan(0);
    if (!cheapest.ok()) return cheapest.status();
    const double most = LeastPriceOfFast(*cheapest, *fastest);
    for (int i = 1; i < kFrontierPlans; ++i) {
      const double part = static_cast<double>(i) / (kFrontierPlans - 1);
      const absl::StatusOr<FrontierPoint> point = Plan(cheapest->price + part * (most - cheapest->price));
      if (!point.ok()) return point.status();
    }
    return WithoutDominated(std::move(planned_));
  }

 private:
  absl::StatusOr<FrontierPoint> Plan(std::optional<double> budget) {
    PlannerConfig config = config_;
    config.budget_per_round = budget;
    absl::StatusOr<Policy> policy = PlanForModel(view_, config);
    if (!policy.ok()) return policy.status();
    ValueOn(view_, config.tensors, *policy);
    planned_.push_back({RoundPrice(*policy, view_, config.tensors), policy->round_time, policy->rate_bps});
    return planned_.back();
  }

  // A plan that knows no prices pays more than it need.
  double LeastPriceOfFast(const FrontierPoint& cheapest, const FrontierPoint& fastest) {
    double too_low = cheapest.price;
    double enough = std::max(fastest.price, cheapest.price);
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (too_low + enough) / 2;
      const absl::StatusOr<FrontierPoint> point = Plan(middle);
      const bool is_fast = point.ok() && point->round_time <= (1 + kCloseToShortest) * fastest.round_time;
      (is_fast ? enough : too_low) = middle;
    }
    return enough;
  }

  static std::vector<FrontierPoint> WithoutDominated(std::vector<FrontierPoint> points) {
    std::stable_sort(points.begin(), points.end(),
                     [](const FrontierPoint& a, const FrontierPoint& b) { return a.price < b.price; });
    std::vector<FrontierPoint> kept;
    for (const FrontierPoint& point : points) {
      if (kept.empty() || point.round_time < (1 - kLeastGain) * kept.back().round_time) kept.push_back(point);
    }
    return kept;
  }

  const NetworkView& view_;
  const PlannerConfig& config_;
  std::vector<FrontierPoint> planned_;
};

}  // namespace

absl::Status NoPrices() {
  return absl::FailedPreconditionError("no link has a price; set price_per_gb of nodes or links in the overlay");
}

absl::StatusOr<std::vector<FrontierPoint>> FindPriceFrontier(const NetworkView& view, const PlannerConfig& config) {
  const bool has_price = std::any_of(view.links().begin(), view.links().end(),
                                     [](const NetworkLink& link) { return link.price_per_gb > 0; });
  if (!has_price) return NoPrices();
  return Frontier(view, config).Find();
}

}  // namespace banyan
