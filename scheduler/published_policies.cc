#include "scheduler/published_policies.h"

#include <utility>

#include "core/check.h"

namespace banyan {

void PublishedPolicies::Add(Policy policy, const NetworkView& view, const std::map<NodeId, NodeAddress>& addresses) {
  BANYAN_CHECK(policies_.empty() || policies_.rbegin()->first < policy.version);
  std::map<NodeId, PolicySlice> slices = MakeSlices(policy, view, addresses);
  const PolicyVersion version = policy.version;
  policies_.emplace(version, Published{std::move(policy), std::move(slices)});
}

const Policy* PublishedPolicies::Current() const {
  return policies_.empty() ? nullptr : &policies_.rbegin()->second.policy;
}

std::vector<const PolicySlice*> PublishedPolicies::SlicesOf(NodeId member) const {
  std::vector<const PolicySlice*> slices;
  for (const auto& [version, published] : policies_) {
    if (const auto slice = published.slices.find(member); slice != published.slices.end())
      slices.push_back(&slice->second);
  }
  return slices;
}

}  // namespace banyan
