// Reads what links of an overlay share, and checks it against them.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SHARED_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SHARED_H_

#include <vector>

#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

std::vector<SharedConfig> ReadShared(const YamlValue& value, YamlProblems& problems);

// Every link of `overlay.shared` is a direction of one in `overlay.links`, if there are any, else of two different
// known nodes; none is twice in one entry.
void CheckShared(const OverlayConfig& overlay, YamlProblems& problems);

// Returns the overlay without what hosts send and receive at most, and without what links share.
OverlayConfig WithoutCaps(OverlayConfig overlay);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SHARED_H_
