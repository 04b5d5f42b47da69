// Simulates one of Banyan's contenders, to put the result beside what was measured. Pure function.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_SIMULATION_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_SIMULATION_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "tools/wan_benchmark/contender.h"
#include "tools/wan_benchmark/contender_setup.h"
#include "topology/overlay/link_schedule.h"

namespace banyan {

struct ContenderSimulationOptions {
  uint64_t warm_up_rounds = 0;
  uint64_t rounds = 1;  // after those; at least 1
  // The changes of the rates, from the start of the job.
  std::optional<LinkRedraw> redraw = std::nullopt;
};

// The median time of a round, in seconds, of the same overlay, sections and model; the nodes of `place` need
// no addresses. Errors as Simulate's. REQUIRES: a contender of Banyan.
absl::StatusOr<double> SimulatedSeconds(const Contender& contender, const BenchPlace& place,
                                        const ContenderSimulationOptions& options);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_SIMULATION_H_
