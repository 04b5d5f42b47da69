// The overlays on which planners are compared, as families of random draws: what `banyan bench plan` plans and the
// figures of sim/planners simulate. Pure functions.
#ifndef BANYAN_TOPOLOGY_SAMPLES_OVERLAY_FAMILIES_H_
#define BANYAN_TOPOLOGY_SAMPLES_OVERLAY_FAMILIES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "topology/network_view.h"

namespace banyan {

struct OverlayFamily {
  std::string name;                           // "geometric_20"
  uint64_t draws = 1;                         // how many there are to compare on
  std::function<NetworkView(uint64_t)> draw;  // of 1 to `draws`
};

// internet2 and cloud9 (also with a cap of 5,000 Mbit/s on what each node sends and receives) as in deploy/topologies;
// internet2 with other rates; full meshes of nine with rates like these; a hub of 100 Mbit/s to 4 and to 8 leaves,
// which have 5 among each other; random places of a plane, 20, 50 and 100 of them, each linked to its nearest four and
// more.
std::vector<OverlayFamily> OverlayFamilies();

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_SAMPLES_OVERLAY_FAMILIES_H_
