// The policies that are in force, by version, each with the slices that its members got. Thread-compatible; owned by
// PolicyPublisher.
#ifndef BANYAN_SCHEDULER_POLICY_PUBLISHED_POLICIES_H_
#define BANYAN_SCHEDULER_POLICY_PUBLISHED_POLICIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/ids.h"
#include "proto/policy_slice.h"
#include "scheduler/policy/link_budgets.h"
#include "scheduler/policy/slice_maker.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

class PublishedPolicies {
 public:
  // Adds a policy, which was made from `view` because of `reason`. REQUIRES: as MakeSlices; its version is above all
  // others. A broadcast takes the values of `source`, by default the lowest member's.
  void Add(Policy policy, std::string reason, const NetworkView& view, const TransmissionSettings& transmission,
           const std::map<NodeId, NodeAddress>& addresses, const LinkBudgets& budgets = {}, NodeId source = NodeId());
  // Forgets the versions below `oldest`. True when there were any. REQUIRES: `oldest` is kept.
  bool Retire(PolicyVersion oldest);

  // Returns the newest policy; nullptr before the first. Valid until the next Add.
  const Policy* Current() const;
  // Returns why the newest policy was made; empty before the first.
  std::string CurrentReason() const;
  // Returns the oldest version; 0 before the first.
  PolicyVersion Oldest() const;
  size_t size() const { return policies_.size(); }
  // Returns the smallest chunk size of all policies, in elements. REQUIRES: there is a policy.
  int64_t SmallestChunk() const;
  // Returns the chunk size of a policy, in elements. REQUIRES: it is kept.
  int64_t ChunkOf(PolicyVersion version) const;
  // Returns whose values a broadcast takes under the newest policy. REQUIRES: there is one.
  NodeId CurrentSource() const;
  bool Contains(PolicyVersion version) const { return policies_.count(version) > 0; }
  // Returns the slices of one member, in order of version.
  std::vector<const PolicySlice*> SlicesOf(NodeId member) const;

 private:
  struct Published {
    Policy policy;
    std::string reason;
    NodeId source;
    std::map<NodeId, PolicySlice> slices;
  };

  std::map<PolicyVersion, Published> policies_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_PUBLISHED_POLICIES_H_
