// Reads the `topology` section of an overlay.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_TOPOLOGY_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_TOPOLOGY_H_

#include <set>
#include <string>

#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

// Node names in it must be among `names`, those of all nodes.
TopologyConfig ReadTopology(const YamlValue& value, const std::set<std::string>& names, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_TOPOLOGY_H_
