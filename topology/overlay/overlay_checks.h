// What the keys of an overlay must be together, beyond what each may say by itself. Checks note what is wrong in
// `problems`. Free functions; thread-safe on distinct problems.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_CHECKS_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_CHECKS_H_

#include <set>
#include <string>
#include <vector>

#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_slots.h"

namespace banyan {

std::set<std::string> NamesOf(const std::vector<NodeConfig>& nodes);

// Checks a reference to a node by its name, which must be one of `names`.
void CheckNodeName(const std::string& name, const FilePlace& place, const std::string& where,
                   const std::set<std::string>& names, YamlProblems& problems);

// Each returns what looks at a section when its keys are read, and fills in what follows from them.
MapCheck CheckScheduler(SchedulerConfig& config);
MapCheck CheckTopology(TopologyConfig& config);
MapCheck CheckAggregation(AggregationConfig& config);
MapCheck CheckMembership(const MembershipConfig& config);

// Checks that names and addresses of nodes are different, that links and what they share are of known nodes, each once,
// and that all nodes are connected. `map` is the file's.
void CheckNetwork(const YamlMapReader& map, const OverlayConfig& overlay, YamlProblems& problems);

// Checks what sections must be together. REQUIRES: the overlay is read.
void CheckSections(const OverlayConfig& overlay, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_CHECKS_H_
