#include "sim/testing/internet2_simulation.h"

#include "core/check.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {

SimulationOptions Internet2Simulation(int64_t model_bytes, uint64_t rounds) {
  const absl::StatusOr<OverlayConfig> overlay = LoadOverlay("deploy/topologies/internet2.yaml");
  BANYAN_CHECK(overlay.ok());
  SimulationOptions options;
  options.overlay = *overlay;
  options.tensor_elements = {model_bytes / static_cast<int64_t>(sizeof(float))};
  options.rounds = rounds;
  return options;
}

}  // namespace banyan
