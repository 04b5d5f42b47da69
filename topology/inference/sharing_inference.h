// Infers what hosts send and receive at most from what their links carry, interval by interval. Nothing is sent for
// that. Thread-compatible; owned by Replanner.
//
// Rules:
//   1. A group is found when the sum of its links stays while they could carry more or less (sum_evidence.h). It is
//      forgotten when the sum goes with what they could carry, or comes near to all that they could.
//   2. Its capacity is what its sum reaches when it holds back links: these are busy and below what they have reached,
//      and no other group that is full explains that. So a plan that makes little use of a group does not lower it.
//      Higher sums raise it.
//   3. Where the view knows a host's cap, nothing is inferred of it.
//
// Limits: hosts that use fewer than five links have no caps here. What is never full is never found, nor is what is
// full while always the same links are busy. A plan that takes these links' parts for their rates does no harm.
#ifndef BANYAN_TOPOLOGY_INFERENCE_SHARING_INFERENCE_H_
#define BANYAN_TOPOLOGY_INFERENCE_SHARING_INFERENCE_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "topology/inference/traffic_window.h"
#include "topology/network_view.h"

namespace banyan {

// Links of a host with a capacity that they share.
struct SharedGroup {
  enum class Kind { kSent, kReceived };

  Kind kind = Kind::kSent;
  NodeId host;                // that sends or receives it all
  std::vector<size_t> links;  // by their numbers in the view, ascending
  double capacity_bps = 0;

  bool Has(size_t link) const { return std::binary_search(links.begin(), links.end(), link); }
};

// Returns all links that a host sends over (kSent) or receives over (kReceived).
std::vector<size_t> LinksOfHost(const NetworkView& view, NodeId host, SharedGroup::Kind kind);

// Returns what is shared at hosts of whose caps the view does not know, and of which five links or more were in use.
std::vector<SharedGroup> FindHostGroups(const NetworkView& view, const TrafficWindow& window);

class SharingInference {
 public:
  // Infers what the links of `believed` share.
  explicit SharingInference(NetworkView believed) : view_(std::move(believed)) {}

  // Takes what links have carried in the next interval.
  void Add(absl::Span<const LinkTraffic> interval);

  // Infers what the links of another view share from now on. Returns whether it has the same links: else all that is
  // known is forgotten.
  bool Believe(NetworkView believed);

  // Returns the groups that are known now.
  const std::vector<SharedGroup>& groups() const { return groups_; }
  // Returns what links have carried lately.
  const TrafficWindow& window() const { return window_; }

 private:
  // What the group has carried in the interval of this age.
  double SumBps(const SharedGroup& group, size_t age) const;
  // The rate that a link has reached.
  double ReachedBps(size_t link) const;
  // Returns whether the group held back two links or more in the interval of this age: they were busy and below what
  // they have reached, and no other full group explains that.
  bool IsHeldBackBy(const SharedGroup& group, size_t age) const;
  // Takes the group's capacity from its last sums.
  void Follow(SharedGroup& group) const;
  bool IsContradicted(const SharedGroup& group) const;
  void Find();
  void NoteRates();

  NetworkView view_;
  TrafficWindow window_;
  std::vector<SharedGroup> groups_;
  std::map<size_t, double> rates_bps_;  // that links of groups have reached
  size_t intervals_ = 0;                // since the start
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_INFERENCE_SHARING_INFERENCE_H_
