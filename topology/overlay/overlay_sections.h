// Reads the sections of an overlay that say how the job runs; one function per section.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SECTIONS_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SECTIONS_H_

#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

AwarenessConfig ReadAwareness(const YamlValue& value, YamlProblems& problems);
MultipathConfig ReadMultipath(const YamlValue& value, YamlProblems& problems);
ChunksConfig ReadChunks(const YamlValue& value, YamlProblems& problems);
AggregationConfig ReadAggregation(const YamlValue& value, YamlProblems& problems);
TransportConfig ReadTransport(const YamlValue& value, YamlProblems& problems);
TrimmingConfig ReadTrimming(const YamlValue& value, YamlProblems& problems);
// `nodes` is how many there are.
MembershipConfig ReadMembership(const YamlValue& value, int nodes, YamlProblems& problems);
PolicyConfig ReadPolicy(const YamlValue& value, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SECTIONS_H_
