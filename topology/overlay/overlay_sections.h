// The sections of an overlay, as ParseOverlay reads and checks them: one function a section. They note what is wrong in
// `problems`, and go on. Free functions; thread-safe on distinct problems.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SECTIONS_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SECTIONS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/compression/compression_config.h"
#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

// ---- nodes and links ----

std::vector<NodeConfig> ReadNodes(const YamlValue& value, YamlProblems& problems);

std::vector<LinkConfig> ReadLinks(const YamlValue& value, YamlProblems& problems);

// Check that names and addresses are different, that links join two different known nodes and no pair twice.
void CheckNodes(const std::vector<NodeConfig>& nodes, YamlProblems& problems);
void CheckLinks(const std::vector<LinkConfig>& links, const std::set<std::string>& names, YamlProblems& problems);

// Checks a reference to a node by its name, which must be one of `names`.
void CheckNodeName(const std::string& name, const FilePlace& place, const std::string& where,
                   const std::set<std::string>& names, YamlProblems& problems);

// ---- what links share ----

std::vector<SharedConfig> ReadShared(const YamlValue& value, YamlProblems& problems);

// Checks that every link of `overlay.shared` is a direction of one in `overlay.links`, if there are any, else of two
// different known nodes; none is twice in one entry.
void CheckShared(const OverlayConfig& overlay, YamlProblems& problems);

// Returns the overlay without what hosts send and receive at most, and without what links share.
OverlayConfig WithoutCaps(OverlayConfig overlay);

// ---- topology ----

// Node names in it must be among `names`, those of all nodes.
TopologyConfig ReadTopology(const YamlValue& value, const std::set<std::string>& names, YamlProblems& problems);

// Returns the planners that have a use for the key `topology.KEY`, where not all have. The others have one tree, trees
// of the file, or shares of their own.
std::vector<std::string> PlannersWith(absl::string_view key);
// Returns why `key` has no use with `planner`, as "only the planner bkt has it, not 'star'"; empty when it has one.
std::string UseFault(absl::string_view key, const std::string& planner);

// ---- how the job runs ----

SchedulerConfig ReadScheduler(const YamlValue& value, YamlProblems& problems);

// Reads which files say how low-bit rounds are admitted, and to which tensors.
PrecisionConfig ReadPrecision(const YamlValue& value, YamlProblems& problems);
// Refuses what low-bit rounds do not go together with. REQUIRES: `overlay` is read but for this.
void CheckPrecision(const OverlayConfig& overlay, YamlProblems& problems);

AwarenessConfig ReadAwareness(const YamlValue& value, YamlProblems& problems);
MultipathConfig ReadMultipath(const YamlValue& value, YamlProblems& problems);
ChunksConfig ReadChunks(const YamlValue& value, YamlProblems& problems);
AggregationConfig ReadAggregation(const YamlValue& value, YamlProblems& problems);
TransportConfig ReadTransport(const YamlValue& value, YamlProblems& problems);
TrimmingConfig ReadTrimming(const YamlValue& value, YamlProblems& problems);
// `nodes` is how many there are.
MembershipConfig ReadMembership(const YamlValue& value, int nodes, YamlProblems& problems);
PolicyConfig ReadPolicy(const YamlValue& value, YamlProblems& problems);

// ---- compression ----

// Reads one rule for all tensors, {codec: topk, controller: netsense, ...}, or {rules: [{keys: "*.weight", codec: topk,
// ...}]}.
CompressionConfig ReadCompression(const YamlValue& value, YamlProblems& problems);

// Returns the section, one line that ReadCompression reads back; empty where it would say what no section says.
std::string CompressionText(const CompressionConfig& config);

// ---- public keys ----

// Reads `public_key` of `map`, if it is there.
void ReadPublicKey(YamlMapReader& map, std::string& out, YamlProblems& problems);

// Reads `section`, "operators" or "observers": a list of {name, public_key}.
std::vector<PersonConfig> ReadPeople(const YamlValue& value, const std::string& section, YamlProblems& problems);

// Checks that either nobody has a key, or the scheduler, all nodes and all people do, each one of its own.
void CheckKeys(const OverlayConfig& overlay, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SECTIONS_H_
