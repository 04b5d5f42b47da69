// The networks that trainings are compared on: eight data centres in a mesh, and how their links change. Pure
// functions.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_SCENARIO_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_SCENARIO_H_

#include <cstdint>

#include "sim/runs/training_simulation.h"
#include "tools/accuracy_benchmark/accuracy_options.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// NetSenseML's bottleneck that the rates of an overlay stand for.
inline constexpr double kReferenceMbps = 200;
// How long an uncompressed synchronisation takes on them, in times of the computation.
inline constexpr double kReferenceSynchronisation = 10;

// Eight nodes, each with a link to every other. What a node's links carry together is as much smaller than 200 Mbit/s
// as `model_elements` are fewer than those of NetSenseML's ResNet18.
OverlayConfig MeshOverlay(int64_t model_elements);

// All links as fast as where the overlay's stand for `mbps`.
void ScaleRates(double mbps, OverlayConfig& overlay);

// Of a job of so many rounds on such an overlay. The same seed gives the same rates at the same times.
RateProfile MakeRateProfile(AccuracyScenario scenario, uint64_t rounds, uint64_t seed);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_SCENARIO_H_
