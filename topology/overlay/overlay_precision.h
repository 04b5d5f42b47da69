// Reads `precision` of an overlay: which files say how low-bit rounds are admitted, and to which tensors.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_PRECISION_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_PRECISION_H_

#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

PrecisionConfig ReadPrecision(const YamlValue& value, YamlProblems& problems);
// Refuses what low-bit rounds do not go together with. REQUIRES: `overlay` is read but for this.
void CheckPrecision(const OverlayConfig& overlay, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_PRECISION_H_
