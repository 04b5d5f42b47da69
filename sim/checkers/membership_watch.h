// Knows who belongs to a job in each epoch, from what the scheduler sends. Thread-compatible; registered with the
// network before those that ask it, owned by the cluster.
//
// A policy names its members only as neighbours in trees. So the members of an epoch are those who were sent a policy
// of it, and their neighbours.
#ifndef BANYAN_SIM_CHECKERS_MEMBERSHIP_WATCH_H_
#define BANYAN_SIM_CHECKERS_MEMBERSHIP_WATCH_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "core/ids.h"
#include "proto/policy_slice.h"
#include "sim/traffic_observer.h"

namespace banyan {

// A start of a worker on a start of its node. One that has finished is not started again with its node, which holds
// nothing of what it did.
struct WorkerStart {
  uint32_t worker = 0;
  uint32_t node = 0;
  friend bool operator==(const WorkerStart&, const WorkerStart&) = default;
};

class MembershipWatch : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override;
  void OnProcessStarted(Timestamp now, NodeId process) override;

  // The newest epoch of which a policy has been sent.
  Epoch epoch() const { return epoch_; }
  // The newest epoch that has begun, with or without a policy.
  Epoch begun() const { return std::max(begun_, epoch_); }
  // False too for an epoch that is not known.
  bool IsMember(NodeId node, Epoch epoch) const;
  // Empty while not all members of it are known.
  std::optional<std::set<NodeId>> MembersOf(Epoch epoch) const;
  // The first epoch to which the newest start of the node belongs; empty while it belongs to none.
  std::optional<Epoch> JoinedIn(NodeId node) const;
  // Whether the newest start of the node has left the job, in which it may stay a member for a while.
  bool HasLeft(NodeId node) const { return left_.contains(node); }
  // Counts the starts of the node.
  uint32_t StartsOf(NodeId node) const;
  // All epochs from this one to the newest have the same members.
  bool HasSameMembersSince(Epoch epoch) const;

 private:
  struct Members {
    std::set<NodeId> known;
    uint32_t count = 0;
  };

  void OnPolicy(NodeId to, const PolicySlice& slice);

  Epoch epoch_;
  Epoch begun_;  // the newest change of membership
  std::map<Epoch, Members> members_;
  std::map<NodeId, Epoch> joined_in_;
  std::map<NodeId, uint32_t> starts_;
  std::set<NodeId> left_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_MEMBERSHIP_WATCH_H_
