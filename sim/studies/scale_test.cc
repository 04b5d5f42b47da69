// Many nodes with four links each and 100 MB per round, with BANYAN_LONG a thousand: the size at which the simulator is
// still used. What it costs in processor time stands in the test's properties.
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "sim/overlays.h"
#include "sim/runs/simulation.h"

namespace banyan {
namespace {

bool IsLong() { return std::getenv("BANYAN_LONG") != nullptr; }

SimulationOptions JobOf(int nodes, std::vector<int64_t> tensor_elements) {
  OverlayShape shape;
  shape.nodes = nodes;
  Random random(1);
  SimulationOptions options;
  options.overlay = RegularOverlay(shape, 4, &random);
  options.tensor_elements = std::move(tensor_elements);
  return options;
}

TEST(ScaleTest, ManyNodes) {
  const SimulationOptions options = JobOf(IsLong() ? 1000 : 200, {25000000});
  const std::clock_t start = std::clock();
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->replicas_identical);
  RecordProperty("seconds", std::to_string(seconds));
  RecordProperty("events", std::to_string(report->events));
}

// With BANYAN_LONG a thousand of each, which takes minutes and gigabytes: the line that it prints says how many.
TEST(ScaleTest, ManyNodesWithManyKeys) {
  const int count = IsLong() ? 1000 : 40;
  const SimulationOptions options = JobOf(count, std::vector<int64_t>(count, 1000));
  const std::clock_t start = std::clock();
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->replicas_identical);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << count << " nodes with " << count << " keys: " << report->events << " events in " << seconds
            << " s of processor time, " << usage.ru_maxrss / 1024 << " MiB at most, "
            << absl::FormatDuration(report->simulated) << " simulated\n";
}

}  // namespace
}  // namespace banyan
