// Reads the `nodes` and `links` of an overlay and checks them against each other.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_NODES_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_NODES_H_

#include <set>
#include <string>
#include <vector>

#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

std::vector<NodeConfig> ReadNodes(const YamlValue& value, YamlProblems& problems);

std::vector<LinkConfig> ReadLinks(const YamlValue& value, YamlProblems& problems);

// Names and addresses are different, links join two different known nodes and no pair twice.
void CheckNodes(const std::vector<NodeConfig>& nodes, YamlProblems& problems);
void CheckLinks(const std::vector<LinkConfig>& links, const std::set<std::string>& names, YamlProblems& problems);

// A reference to a node by its name, which must be one of `names`.
void CheckNodeName(const std::string& name, const FilePlace& place, const std::string& where,
                   const std::set<std::string>& names, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_NODES_H_
