#include "node/rounds/link_ratios.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "compression/control/ratio_controller_factory.h"
#include "core/check.h"

namespace banyan {

RatioController& LinkRatios::ControllerOf(NodeId neighbour, const CompressionRule& rule) {
  const auto index = static_cast<size_t>(&rule - config_->rules.data());
  BANYAN_CHECK(index < config_->rules.size());
  std::unique_ptr<RatioController>& controller = controllers_[{neighbour, index}];
  if (controller == nullptr) {
    absl::StatusOr<std::unique_ptr<RatioController>> made = MakeRatioController(rule);
    BANYAN_CHECK(made.ok());
    controller = *std::move(made);
  }
  return *controller;
}

double LinkRatios::RatioTo(NodeId neighbour, const CompressionRule& rule) {
  return ControllerOf(neighbour, rule).ratio();
}

double LinkRatios::LeastRatioTo(const std::vector<NodeId>& neighbours, const CompressionRule& rule) {
  double least = 1;
  for (NodeId neighbour : neighbours) least = std::min(least, RatioTo(neighbour, rule));
  return least;
}

void LinkRatios::Observe(const std::vector<Observation>& links) {
  for (const Observation& link : links) {
    const auto first = controllers_.lower_bound({link.neighbour, 0});
    for (auto entry = first; entry != controllers_.end() && entry->first.first == link.neighbour; ++entry) {
      RoundObservation round = link.round;
      round.ratio = entry->second->ratio();
      entry->second->Observe(round);
    }
  }
}

}  // namespace banyan
