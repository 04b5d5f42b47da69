// What can be full in a network, by name: a direction of a link, what a host sends or receives, what links share.
// Values and pure functions.
#ifndef BANYAN_TOPOLOGY_ADVICE_NETWORK_CAPACITY_H_
#define BANYAN_TOPOLOGY_ADVICE_NETWORK_CAPACITY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "topology/network_view.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_ADVICE_NETWORK_CAPACITY_H_
