// Reads `overlay.yaml`, the one file that configures a job; docs/configuration.md lists its keys. Pure apart from
// ReadOverlayText and LoadOverlay, which read the file they are told. Every error is INVALID_ARGUMENT (NOT_FOUND for a
// missing file). It reads `file:line:column: what was expected, what came`, with a suggestion where a name looks
// misspelt.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_YAML_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_YAML_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Returns the text of the file `name` in UTF-8 with plain line ends, otherwise unchecked; "-" is standard input.
// INVALID_ARGUMENT when it is no text, or larger than ParseOverlay takes, so that a device is not read for ever.
absl::StatusOr<std::string> ReadOverlayText(const std::string& name);

// Reads and parses the file at `path`.
absl::StatusOr<OverlayConfig> LoadOverlay(const std::string& path);

// Parses `text`; `file_name` only goes into messages.
absl::StatusOr<OverlayConfig> ParseOverlay(absl::string_view text, absl::string_view file_name);

// Returns the paths of all keys that ParseOverlay looks for when it reads `text`, such as "nodes.name" and
// "topology.roots". Keys that the text does not have are among them. The text may be wrong: reading goes on as far as
// it makes sense. For holding the documentation against the parser.
std::set<std::string> KeysLookedFor(absl::string_view text);

// Checks what commands that run a job need beyond ParseOverlay: addresses of the scheduler and of every node.
absl::Status ValidateForJob(const OverlayConfig& overlay);

// Checks what an emulated WAN needs beyond ParseOverlay: the rates of all links.
absl::Status ValidateForEmulation(const OverlayConfig& overlay);

// Makes the network of `overlay`. Nodes get the NodeIds 1..n in file order. REQUIRES: the overlay comes from
// ParseOverlay or keeps its promises.
NetworkView MakeNetworkView(const OverlayConfig& overlay);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_YAML_H_
