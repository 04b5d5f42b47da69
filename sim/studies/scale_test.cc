// A thousand nodes with four links each and 100 MB per round: the size at which the simulator is still used. What it
// costs in processor time stands in the test's properties.
#include <ctime>

#include "core/random.h"
#include "gtest/gtest.h"
#include "sim/runs/simulation.h"
#include "sim/sample_overlays.h"

namespace banyan {
namespace {

// Sanitizers make everything many times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kNodes = 50;
#else
constexpr int kNodes = 1000;
#endif

TEST(ScaleTest, AThousandNodes) {
  OverlayShape shape;
  shape.nodes = kNodes;
  Random random(1);
  SimulationOptions options;
  options.overlay = RegularOverlay(shape, 4, &random);
  options.tensor_elements = {25000000};
  const std::clock_t start = std::clock();
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->replicas_identical);
  RecordProperty("seconds", std::to_string(seconds));
  RecordProperty("events", std::to_string(report->events));
}

}  // namespace
}  // namespace banyan
