#include "tools/wan_benchmark/contender_simulation.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/timing.h"
#include "sim/runs/simulation.h"
#include "tools/wan_benchmark/contender_result.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {

absl::StatusOr<double> SimulatedSeconds(const Contender& contender, const BenchPlace& place,
                                        const ContenderSimulationOptions& options) {
  if (contender.votes != Contender::Votes::kNone)
    return absl::UnimplementedError("simulated rounds here are of floats");
  // Who is where does not matter here.
  const absl::StatusOr<OverlayConfig> file = ParseOverlay(place.overlay, contender.name);
  if (!file.ok()) return file.status();
  BenchPlace anywhere = place;
  anywhere.nodes.clear();
  for (const NodeConfig& node : file->nodes) {
    anywhere.nodes.emplace_back(node.name, absl::StrCat("10.0.0.", anywhere.nodes.size() + 1));
  }
  Contender knowing = contender;
  knowing.told = ToldLinks();
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(MakeJobOverlay(knowing, anywhere), contender.name);
  if (!overlay.ok()) return overlay.status();
  SimulationOptions simulation;
  simulation.overlay = *std::move(overlay);
  simulation.told = contender.told;
  simulation.tensor_elements = {place.elements};
  simulation.rounds = options.warm_up_rounds + options.rounds;
  simulation.link_redraw = options.redraw;
  simulation.headers = true;
  const absl::StatusOr<SimulationReport> report = Simulate(simulation);
  if (!report.ok()) return report.status();
  std::vector<double> seconds;
  for (size_t i = options.warm_up_rounds; i < report->rounds.size(); ++i) {
    seconds.push_back(absl::ToDoubleSeconds(report->rounds[i].synchronisation));
  }
  return Median(std::move(seconds));
}

}  // namespace banyan
