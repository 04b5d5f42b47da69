// Keeps the least delay between two nodes that was measured of late, in either direction. Thread-compatible; owned by
// Replanner.
//
// Why: what goes by way of others shows in delays alone (topology/inference/shared_ways.h), by a twentieth and less.
// Links that are busy all the time measure more than that too much; somewhere in these minutes they were not.
#ifndef BANYAN_SCHEDULER_POLICY_LEAST_DELAYS_H_
#define BANYAN_SCHEDULER_POLICY_LEAST_DELAYS_H_

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "awareness/windowed_minimum.h"
#include "core/check.h"
#include "core/ids.h"
#include "core/time.h"
#include "topology/network_view.h"

namespace banyan {

class LeastDelays {
 public:
  // A path that became longer counts as such after this time at the latest.
  static constexpr absl::Duration kWindow = absl::Minutes(10);

  // A delay was measured between `a` and `b`. REQUIRES: `now` is not before the `now` of the call before.
  void Note(Timestamp now, NodeId a, NodeId b, absl::Duration delay) {
    if (delay <= absl::ZeroDuration()) return;
    least_.try_emplace(std::minmax(a, b), kWindow).first->second.Add(now, delay);
  }
  void Forget() { least_.clear(); }

  // Returns `view` with these delays, where there are any.
  NetworkView In(const NetworkView& view) const {
    std::vector<NetworkLink> links(view.links().begin(), view.links().end());
    for (NetworkLink& link : links) {
      const auto found = least_.find(std::minmax(link.from, link.to));
      if (found != least_.end()) link.delay = *found->second.least();
    }
    absl::StatusOr<NetworkView> made = view.WithLinks(std::move(links));
    BANYAN_CHECK(made.ok());
    return *std::move(made);
  }

 private:
  std::map<std::pair<NodeId, NodeId>, WindowedMinimum> least_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_LEAST_DELAYS_H_
