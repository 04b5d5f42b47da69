// The keys of overlay.yaml: each is one row here, and nowhere else. The file's reader, what a reconfiguration may
// change, the settings that a running job rests on, the file's writer and the tables of docs/reference/overlay.md
// follow. Rows refer to the configuration that they are made of. Free functions; thread-safe on distinct
// configurations.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_KEYS_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_KEYS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_keys.h"

namespace banyan {

// The keys of the file: `nodes`, `links` and `shared`, and those whose limits follow from the nodes that there are.
std::vector<YamlKey> NetworkKeys(OverlayConfig& overlay);
std::vector<YamlKey> JobKeys(OverlayConfig& overlay);

// Those of the entries of its lists.
std::vector<YamlKey> NodeKeys(NodeConfig& node);
std::vector<YamlKey> LinkKeys(LinkConfig& link);
std::vector<YamlKey> SharedKeys(SharedConfig& shared);
std::vector<YamlKey> PersonKeys(PersonConfig& person);
std::vector<YamlKey> TreeKeys(CustomTreeConfig& tree, const std::vector<NodeConfig>& nodes);
std::vector<YamlKey> RuleKeys(CompressionRule& rule);

YamlSlot CompressionSlot(CompressionConfig& config);

// Returns the planners that have a use for the key `topology.KEY`, where not all have. The others have one tree, trees
// of the file, or shares of their own.
std::vector<std::string> PlannersWith(absl::string_view key);
// Returns why `key` has no use with `planner`, as "only the planner bkt has it, not 'star'"; empty when it has one.
std::string UseFault(absl::string_view key, const std::string& planner);

// Returns an overlay as the text of its file, which ParseOverlay reads back.
std::string WriteOverlay(const OverlayConfig& overlay);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_KEYS_H_
