// The policies that members run under, by version, each with the slices that its members got. Thread-compatible; owned
// by the core.
#ifndef BANYAN_SCHEDULER_PUBLISHED_POLICIES_H_
#define BANYAN_SCHEDULER_PUBLISHED_POLICIES_H_

#include <map>
#include <vector>

#include "core/ids.h"
#include "proto/policy_slice.h"
#include "scheduler/slice_maker.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

class PublishedPolicies {
 public:
  // REQUIRES: as MakeSlices; the version is above all before it.
  void Add(Policy policy, const NetworkView& view, const std::map<NodeId, NodeAddress>& addresses);

  // The newest one; nullptr before the first. Valid until the next Add.
  const Policy* Current() const;
  bool Contains(PolicyVersion version) const { return policies_.count(version) > 0; }
  // The slices of one member, in order of version.
  std::vector<const PolicySlice*> SlicesOf(NodeId member) const;

 private:
  struct Published {
    Policy policy;
    std::map<NodeId, PolicySlice> slices;
  };

  std::map<PolicyVersion, Published> policies_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PUBLISHED_POLICIES_H_
