#include "scheduler/formulation.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace banyan {
namespace {

double SumOfDetoursBps(const Policy& policy, const NetworkView& view) {
  double sum_bps = 0;
  for (const Route& detour : policy.auxiliary) sum_bps += PathRateBps(detour.path, view);
  return sum_bps;
}

bool IsStale(const std::vector<Route>& routes, const NetworkView& published, const NetworkView& view) {
  return std::any_of(routes.begin(), routes.end(), [&](const Route& route) {
    const auto [low, high] = std::minmax({PathRateBps(route.path, published), PathRateBps(route.path, view)});
    return high > kStaleRateFactor * low;
  });
}

bool SameTrees(const Policy& a, const Policy& b) {
  if (a.trees.size() != b.trees.size()) return false;
  return std::equal(a.trees.begin(), a.trees.end(), b.trees.begin(), [](const Tree& left, const Tree& right) {
    return left.root == right.root && left.reduce_parent == right.reduce_parent &&
           left.broadcast_parent == right.broadcast_parent;
  });
}

}  // namespace

Formulation::Formulation(const TopologyConfig& topology, const AwarenessConfig& awareness)
    : is_enabled_(awareness.enabled), interval_(topology.update_interval), update_rate_(topology.update_rate) {}

std::optional<std::string> Formulation::LookForReason(Timestamp now, const LinkTable& links) {
  if (!is_enabled_) return std::nullopt;
  const absl::Duration pause = std::min(kLeastReplanPause, interval_);
  if (update_rate_ > 0 && now >= last_plan_ + pause && links.ChangedBeyond(update_rate_)) {
    return absl::StrFormat("a link changed by more than %.3g%%", update_rate_ * 100);
  }
  if (now < last_look_ + interval_) return std::nullopt;
  last_look_ = now;
  if (!links.ChangedBeyond(0)) return std::nullopt;
  return absl::StrCat("links were measured anew in the last ", absl::FormatDuration(interval_));
}

void Formulation::NotePlanned(Timestamp now) {
  last_look_ = now;
  last_plan_ = now;
}

Timestamp Formulation::NextLook() const { return is_enabled_ ? last_look_ + interval_ : kNever; }

Verdict Judge(const Policy& current, const NetworkView& published, const Policy& candidate, const NetworkView& view) {
  if (candidate.detour_rate_bps > current.detour_rate_bps * (1 + kLeastGain)) {
    return {Verdict::Kind::kAdopt, absl::StrFormat("%.3g instead of %.3g Mbit/s are promised",
                                                   candidate.detour_rate_bps / 1e6, current.detour_rate_bps / 1e6)};
  }
  if (SameTrees(current, candidate) &&
      SumOfDetoursBps(candidate, view) > SumOfDetoursBps(current, view) * (1 + kLeastDetourGain)) {
    return {Verdict::Kind::kAdopt, "there are better detours"};
  }
  if (IsStale(current.auxiliary, published, view) || IsStale(current.routes, published, view)) {
    return {Verdict::Kind::kRefresh, "the rates of detours or routes have changed"};
  }
  return {Verdict::Kind::kKeep, absl::StrFormat("%.3g instead of %.3g Mbit/s are too little for a change",
                                                candidate.detour_rate_bps / 1e6, current.detour_rate_bps / 1e6)};
}

double PathRateBps(const std::vector<NodeId>& path, const NetworkView& view) {
  double rate_bps = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const NetworkLink* link = view.FindLink(path[i], path[i + 1]);
    rate_bps = std::min(rate_bps, link == nullptr ? 0 : link->throughput_bps);
  }
  return path.size() < 2 ? 0 : rate_bps;
}

}  // namespace banyan
