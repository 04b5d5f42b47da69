#include "topology/policy_difference.h"

#include <algorithm>

#include "topology/detour_rate.h"

namespace banyan {
namespace {

// Two ways to the same rate may end this far apart.
constexpr double kRounding = 1e-9;

bool HasMembers(const Policy& policy, const NetworkView& view) {
  return std::equal(policy.members.begin(), policy.members.end(), view.nodes().begin(), view.nodes().end(),
                    [](NodeId member, const NetworkNode& node) { return member == node.id; });
}

}  // namespace

double RateOn(const Policy& policy, const NetworkView& view) {
  return HasMembers(policy, view) ? DetourRateBps(policy, view) : 0;
}

bool PromisesGain(const Policy& current, const Policy& next, const NetworkView& view, double gain) {
  return next.detour_rate_bps > RateOn(current, view) * (1 + gain) * (1 + kRounding);
}

}  // namespace banyan
