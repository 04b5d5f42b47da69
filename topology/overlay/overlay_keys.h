// Reads the public keys of an overlay, and checks that they belong together.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_KEYS_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_KEYS_H_

#include <string>
#include <vector>

#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

// Reads `public_key` of `map`, if it is there.
void ReadPublicKey(YamlMapReader& map, std::string& out, YamlProblems& problems);

// Reads `section`, "operators" or "observers": a list of {name, public_key}.
std::vector<PersonConfig> ReadPeople(const YamlValue& value, const std::string& section, YamlProblems& problems);

// Either nobody has a key, or the scheduler, all nodes and all people do, each one of its own.
void CheckKeys(const OverlayConfig& overlay, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_KEYS_H_
