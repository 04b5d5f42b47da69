// What faster links would be worth, and which links are faster than they need be: from the prices of a packing
// (topology/packing/tree_packing.h), each checked by packing again. Pure.
//
// A capacity whose price is 0 in prices that prove the bound cannot make the rate higher: only those with a price are
// looked at. The rate is a concave function of the capacities, so that a large upgrade is worth at most as much per
// Mbit/s as a small one.
#ifndef BANYAN_TOPOLOGY_ADVICE_UPGRADE_ADVICE_H_
#define BANYAN_TOPOLOGY_ADVICE_UPGRADE_ADVICE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/network_view.h"

namespace banyan {

// What can be full in a network, by name: a direction of a link, what a host sends or receives, what links share.
// Values and pure functions.
struct NetworkCapacity {
  enum class Kind : uint8_t { kLink, kUp, kDown, kShared };

  Kind kind = Kind::kLink;
  size_t position = 0;  // in links(), nodes() or shared() of the view

  friend bool operator==(const NetworkCapacity&, const NetworkCapacity&) = default;
};

// Returns the capacities of the view that are finite, in the order of the numbers that CapacityGraph gives them, as
// pairs of number and capacity.
struct NumberedCapacity {
  size_t number = 0;
  NetworkCapacity capacity;
  double bps = 0;
};

std::vector<NumberedCapacity> CapacitiesOf(const NetworkView& view);

// Returns the view in which the capacity is `bps`, above 0. REQUIRES: the view has it.
NetworkView WithCapacity(const NetworkView& view, const NetworkCapacity& capacity, double bps);

// Returns its name: "n3 > n4", "n3 sends", "n3 receives", "n1 > n2, n1 > n3 together".
std::string NameOf(const NetworkCapacity& capacity, const NetworkView& view);

// The least part of a capacity by which a small upgrade makes it more.
inline constexpr double kSmallUpgrade = 0.01;
// With more nodes than this packings are not exact enough for their differences to say anything.
inline constexpr size_t kMostAdvisedNodes = 40;

struct Upgrade {
  NetworkCapacity capacity;
  double capacity_bps = 0;
  double worth = 0;             // of one more bit/s: so many more bit/s of the model
  double doubled_rate_bps = 0;  // the rate with twice the capacity
};

struct UpgradeAdvice {
  double rate_bps = 0;            // of the best packing as it is
  double bound_bps = 0;           // that no scheme can beat
  std::vector<Upgrade> upgrades;  // that make the rate higher, the most worth first
  // All of these together could have half of their capacity without loss.
  std::vector<NetworkCapacity> spare;
};

// Returns advice for a job on all nodes of the view. FAILED_PRECONDITION with fewer than two nodes, with more than
// kMostAdvisedNodes, and where some node does not reach another.
absl::StatusOr<UpgradeAdvice> AdviseUpgrades(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_ADVICE_UPGRADE_ADVICE_H_
