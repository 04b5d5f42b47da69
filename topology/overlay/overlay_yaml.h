// Reads `overlay.yaml`, the one file that configures a job; docs/configuration.md lists its keys. Pure apart from
// ReadOverlayText and LoadOverlay, which read the file they are told. Every error is INVALID_ARGUMENT (NOT_FOUND for a
// missing file). It reads `file:line:column: what was expected, what came`, with a suggestion where a name looks
// misspelt.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_YAML_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_YAML_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_keys.h"

namespace banyan {

// Returns the text of the file `name` in UTF-8 with plain line ends, otherwise unchecked; "-" is standard input.
// INVALID_ARGUMENT when it is no text, or larger than ParseOverlay takes, so that a device is not read for ever.
absl::StatusOr<std::string> ReadOverlayText(const std::string& name);

// Reads and parses the file at `path`.
absl::StatusOr<OverlayConfig> LoadOverlay(const std::string& path);

// Parses `text`; `file_name` only goes into messages.
absl::StatusOr<OverlayConfig> ParseOverlay(absl::string_view text, absl::string_view file_name);

// Reads another YAML file's `text` into `slot`.
absl::Status ReadYaml(absl::string_view text, absl::string_view file_name, const YamlSlot& slot);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_YAML_H_
