#include <tuple>
#include <utility>

#include "core/check.h"
#include "sim/faults/fault_plan.h"

namespace banyan {
namespace {

// Of the messages that a path drops. Heartbeats are smaller than any of these.
constexpr int64_t kLeastLargeBytes = 150;
constexpr int64_t kMostLargeBytes = 700;
constexpr double kWithScheduler = 0.2;

bool SilenceConnections(const Fault& fault, Random* random, SimulatedNetwork* network) {
  bool has_any = false;
  for (const ConnectionIndex connection : network->ConnectionsInUse(fault.node, fault.other)) {
    if (random->Chance(0.3)) continue;
    const bool is_other_way = fault.is_one_way && random->Chance(0.5);
    network->Silence(connection, !is_other_way, !fault.is_one_way || is_other_way);
    has_any = true;
  }
  return has_any;
}

}  // namespace

std::vector<Fault> DrawSilences(const FaultPlanOptions& options, Random* random) {
  BANYAN_CHECK(!options.kinds.empty() && !options.links.empty());
  std::vector<Fault> faults;
  for (int i = 0; i < options.faults; ++i) {
    Fault fault;
    fault.at = Between(options.first, options.last, random);
    fault.kind = options.kinds[random->Below(options.kinds.size())];
    std::tie(fault.node, fault.other) = options.links[random->Below(options.links.size())];
    if (random->Chance(kWithScheduler)) fault.other = kSchedulerNode;
    fault.lasts = Between(absl::Milliseconds(100), 3 * options.lost_after, random);
    fault.is_one_way = random->Chance(0.5);
    fault.is_silent = true;
    faults.push_back(fault);
  }
  return faults;
}

bool BeginSilence(const Fault& fault, Random* random, Cluster* cluster) {
  SimulatedNetwork* network = cluster->simulator()->network();
  if (fault.kind == FaultKind::kSilenceConnections) return SilenceConnections(fault, random, network);
  MiddleBox box;
  if (fault.kind == FaultKind::kLoseLarge) {
    box.drops_from_bytes = random->Between(kLeastLargeBytes, kMostLargeBytes);
  } else {
    box.forgets_after = Between(absl::Milliseconds(50), absl::Seconds(1), random);
  }
  network->PlaceMiddleBox(fault.node, fault.other, box);
  if (!fault.is_one_way) network->PlaceMiddleBox(fault.other, fault.node, box);
  return true;
}

void EndSilence(const Fault& fault, Cluster* cluster) {
  if (fault.kind == FaultKind::kSilenceConnections) return;
  for (const auto& [from, to] : {std::pair(fault.node, fault.other), std::pair(fault.other, fault.node)}) {
    cluster->simulator()->network()->PlaceMiddleBox(from, to, {});
  }
}

}  // namespace banyan
