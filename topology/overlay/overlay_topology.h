// Reads the `topology` section of an overlay.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_TOPOLOGY_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_TOPOLOGY_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

// Node names in it must be among `names`, those of all nodes.
TopologyConfig ReadTopology(const YamlValue& value, const std::set<std::string>& names, YamlProblems& problems);

// Returns the planners that have a use for the key `topology.KEY`, where not all have. The others have one tree, trees
// of the file, or shares of their own.
std::vector<std::string> PlannersWith(absl::string_view key);
// Returns why `key` has no use with `planner`, as "only the planner bkt has it, not 'star'"; empty when it has one.
std::string UseFault(absl::string_view key, const std::string& planner);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_TOPOLOGY_H_
