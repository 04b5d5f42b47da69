// The overlay as the planners see it: nodes, and directed links with their throughput, delay and loss. An immutable
// value; thread-compatible. Lookups are logarithmic, so thousands of nodes or a full mesh of hundreds are fine.
#ifndef BANYAN_TOPOLOGY_NETWORK_VIEW_H_
#define BANYAN_TOPOLOGY_NETWORK_VIEW_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/ids.h"

namespace banyan {

// Where a node stands, for pictures only: nothing is planned by it. A value.
struct EarthPosition {
  double latitude_degrees = 0;   // -90 to 90, north is positive
  double longitude_degrees = 0;  // -180 to 180, east is positive
  friend bool operator==(const EarthPosition&, const EarthPosition&) = default;
};

// The origin of a link's numbers: the configuration or nobody yet (believed), or measurements of chunks. These were on
// a tree edge (primary) or on an auxiliary path (auxiliary).
enum class LinkSource { kBelieved, kPrimary, kAuxiliary };

struct NetworkNode {
  NodeId id;
  std::string name;
  // The rates at which the host can send and receive over all its links together; empty when nothing but the links
  // limits it.
  std::optional<double> up_cap_bps;
  std::optional<double> down_cap_bps;
  std::optional<EarthPosition> position = std::nullopt;
};

// One direction of a link.
struct NetworkLink {
  NodeId from;
  NodeId to;
  double throughput_bps = 0;  // greater than 0, finite
  absl::Duration delay;       // propagation, one way
  double loss_fraction = 0;   // in [0, 1)
  LinkSource source = LinkSource::kBelieved;
  bool is_guessed = false;  // nobody has told or measured the rate
  double price_per_gb = 0;  // of 10^9 bytes that cross it, with what its sender pays for them; finite, at least 0

  friend bool operator==(const NetworkLink&, const NetworkLink&) = default;
};

// What links share besides the hosts at their ends, such as a link between routers: they carry no more together.
struct SharedCapacity {
  double capacity_bps = 0;                       // greater than 0, finite
  std::vector<std::pair<NodeId, NodeId>> links;  // (from, to)

  friend bool operator==(const SharedCapacity&, const SharedCapacity&) = default;
};

class NetworkView {
 public:
  // A view of nothing.
  NetworkView() = default;

  // Takes nodes and links in any order. Fails with INVALID_ARGUMENT on a duplicate node id or name, on a number that is
  // out of range, and on these links: from or to an unknown node, from a node to itself, or a second one between the
  // same nodes in the same direction. Links that there are not are left out of `shared`, and what no link shares too.
  static absl::StatusOr<NetworkView> Create(std::vector<NetworkNode> nodes, std::vector<NetworkLink> links,
                                            std::vector<SharedCapacity> shared = {});

  // Returns the nodes in order of id.
  absl::Span<const NetworkNode> nodes() const { return nodes_; }
  // Returns the links in order of (from, to).
  absl::Span<const NetworkLink> links() const { return links_; }
  // Returns what links share, in the order in which it was given, with its links ascending.
  absl::Span<const SharedCapacity> shared() const { return shared_; }
  // Returns the positions in shared() of what the link at this position in links() shares.
  absl::Span<const size_t> SharedBy(size_t link) const {
    return absl::MakeConstSpan(shared_by_).subspan(first_shared_[link], first_shared_[link + 1] - first_shared_[link]);
  }

  // Position of the node in nodes(); empty when unknown.
  std::optional<size_t> IndexOf(NodeId id) const;
  // nullptr when unknown. The pointer lives as long as this view.
  const NetworkNode* FindNode(NodeId id) const;
  const NetworkNode* FindNodeByName(const std::string& name) const;
  const NetworkLink* FindLink(NodeId from, NodeId to) const;
  // The links that leave a node, in order of `to`; empty when the node is unknown.
  absl::Span<const NetworkLink> LinksFrom(NodeId id) const;
  // "n3" for a known node, "node 3" otherwise.
  std::string NameOf(NodeId id) const;

  // Returns the same nodes and what they share with these links instead. Fails as Create does.
  absl::StatusOr<NetworkView> WithLinks(std::vector<NetworkLink> links) const {
    return Create(nodes_, std::move(links), shared_);
  }

  // The same network with only these nodes and the links among them. Fails when a member is unknown.
  absl::StatusOr<NetworkView> Restrict(absl::Span<const NodeId> members) const;

  // OK when every node reaches every other; FAILED_PRECONDITION names two nodes for which it is not so.
  absl::Status CheckConnected() const;

 private:
  // Sets shared_ and what is found by it. REQUIRES: nodes and links are set.
  absl::Status Share(std::vector<SharedCapacity> shared);

  std::vector<NetworkNode> nodes_;
  std::vector<NetworkLink> links_;
  std::vector<size_t> first_link_;  // of nodes_[i] in links_; one more entry than nodes_
  std::vector<SharedCapacity> shared_;
  std::vector<size_t> shared_by_;     // positions in shared_, by link
  std::vector<size_t> first_shared_;  // of links_[i] in shared_by_; one more entry than links_
};

// Returns the positions in view.links() of a path's hops, in order; empty when one of them is no link of the view.
std::optional<std::vector<size_t>> LinksOfPath(const std::vector<NodeId>& path, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_NETWORK_VIEW_H_
