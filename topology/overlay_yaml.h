// Reads `overlay.yaml`, the one file that configures a job. Pure apart from ReadOverlayText and LoadOverlay, which
// read the file they are told. Every error is INVALID_ARGUMENT (NOT_FOUND for a missing file) and reads `file:line:
// what was expected, what came`, with a suggestion where a name looks misspelt.
#ifndef BANYAN_TOPOLOGY_OVERLAY_YAML_H_
#define BANYAN_TOPOLOGY_OVERLAY_YAML_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "topology/network_view.h"
#include "topology/overlay_config.h"

namespace banyan {

// What the file holds, unchecked but for its size: of a larger file one byte more than ParseOverlay takes.
absl::StatusOr<std::string> ReadOverlayText(const std::string& path);

absl::StatusOr<OverlayConfig> LoadOverlay(const std::string& path);

// `file_name` only goes into messages.
absl::StatusOr<OverlayConfig> ParseOverlay(absl::string_view text, absl::string_view file_name);

// What commands that run a job need beyond ParseOverlay: an address for the scheduler and for every node.
absl::Status ValidateForJob(const OverlayConfig& overlay);

// What an emulated WAN needs beyond ParseOverlay: the rates of all links.
absl::Status ValidateForEmulation(const OverlayConfig& overlay);

// Nodes get the NodeIds 1..n in file order. The overlay must come from ParseOverlay or keep its promises.
NetworkView MakeNetworkView(const OverlayConfig& overlay);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_YAML_H_
