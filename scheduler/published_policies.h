// The policies that members run under, by version, each with the slices that its members got. Thread-compatible; owned
// by the core.
#ifndef BANYAN_SCHEDULER_PUBLISHED_POLICIES_H_
#define BANYAN_SCHEDULER_PUBLISHED_POLICIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/ids.h"
#include "proto/policy_slice.h"
#include "scheduler/link_budgets.h"
#include "scheduler/slice_maker.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

class PublishedPolicies {
 public:
  // REQUIRES: as MakeSlices; the version is above all before it. `reason` says why the policy was made.
  void Add(Policy policy, std::string reason, const NetworkView& view, const TransmissionSettings& transmission,
           const std::map<NodeId, NodeAddress>& addresses, const LinkBudgets& budgets = {});
  // Forgets the versions below `oldest`. True when there were any. REQUIRES: `oldest` is kept.
  bool Retire(PolicyVersion oldest);

  // The newest one; nullptr before the first. Valid until the next Add.
  const Policy* Current() const;
  // Why the newest one was made; empty before the first.
  std::string CurrentReason() const;
  // Of no policy: 0.
  PolicyVersion Oldest() const;
  size_t size() const { return policies_.size(); }
  // The smallest of the kept policies' chunk sizes. REQUIRES: there is one.
  int64_t SmallestChunk() const;
  bool Contains(PolicyVersion version) const { return policies_.count(version) > 0; }
  // The slices of one member, in order of version.
  std::vector<const PolicySlice*> SlicesOf(NodeId member) const;

 private:
  struct Published {
    Policy policy;
    std::string reason;
    std::map<NodeId, PolicySlice> slices;
  };

  std::map<PolicyVersion, Published> policies_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PUBLISHED_POLICIES_H_
