// The links that members say do not work although both their ends are there. Each is planned without for a while, which
// doubles when it turns out not to work again. Time is handed in. Thread-compatible; owned by Replanner.
#ifndef BANYAN_SCHEDULER_POLICY_LINK_OUTAGES_H_
#define BANYAN_SCHEDULER_POLICY_LINK_OUTAGES_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "topology/network_view.h"

namespace banyan {

inline constexpr absl::Duration kFirstOutage = absl::Minutes(1);
inline constexpr absl::Duration kLongestOutage = absl::Minutes(30);
inline constexpr absl::Duration kLately = absl::Seconds(30);

class LinkOutages {
 public:
  struct Outage {
    NodeId a;  // the lower one
    NodeId b;
    Timestamp until;  // then it may be planned with again
    std::string why;
  };

  // The link between these nodes, in both directions, does not work.
  void Cut(Timestamp now, NodeId a, NodeId b, std::string why);
  // Makes all outages end at `latest` or before: there is no plan without these links.
  void ReturnBy(Timestamp latest);
  // Lets links be planned with again whose time is over. True when there are any.
  bool TakeReturned(Timestamp now);
  // When TakeReturned returns true; kNever without an outage.
  Timestamp NextDeadline() const;

  // Returns the outages in order of their nodes.
  std::vector<Outage> All() const;
  // Returns, in this order, the links that were out until kLately ago or later, with when they returned: they may not
  // work any better.
  std::vector<Outage> Lately(Timestamp now) const;
  bool empty() const { return NextDeadline() == kNever; }
  // Returns `view` without the links that do not work.
  NetworkView Without(const NetworkView& view) const;
  // Returns those of `nodes` that only links which do not work connect with more than half of them. None when no part
  // of them is so large, or when `view` does not connect them all.
  std::set<NodeId> CutOff(const NetworkView& view, const std::set<NodeId>& nodes) const;

 private:
  struct Entry {
    Timestamp until;
    absl::Duration length;
    bool is_out = true;
    Timestamp returned_at;  // when it is not
    std::string why;
  };
  bool IsOut(NodeId a, NodeId b) const;

  std::map<std::pair<NodeId, NodeId>, Entry> entries_;  // the lower id first
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_LINK_OUTAGES_H_
