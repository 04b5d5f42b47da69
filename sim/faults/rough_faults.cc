#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/time/time.h"
#include "core/check.h"
#include "sim/faults/fault_plan.h"
#include "sim/overlays.h"
#include "topology/overlay/overlay_keys.h"

namespace banyan {
namespace {

// Within this of an order others end: it is on its way, it is durable, it is carried out.
constexpr absl::Duration kAboutAnOrder = absl::Milliseconds(150);
constexpr absl::Duration kMostDelay = absl::Milliseconds(400);
// Of a link's rate that is left.
constexpr double kLeastShare = 0.02;
constexpr double kMostShare = 0.3;

Fault Companion(FaultKind kind, NodeId node, absl::Duration about, const FaultPlanOptions& options, Random* random) {
  Fault fault;
  fault.kind = kind;
  fault.node = fault.other = node;
  fault.at = about + Between(absl::ZeroDuration(), kAboutAnOrder, random);
  fault.lasts = Between(absl::Milliseconds(1), options.lost_after, random);
  fault.is_silent = random->Chance(0.3);
  return fault;
}

// The overlay that the operator gives as its `number`-th, which differs from the former in nothing that matters.
std::string Edited(OverlayConfig overlay, int number) {
  overlay.topology.update_interval += absl::Milliseconds(number);
  return WriteOverlay(overlay);
}

// A file for another job, which no job that runs may take up.
OverlayConfig AnotherFile(OverlayConfig overlay, Random* random) {
  AggregationConfig& aggregation = overlay.aggregation;
  switch (random->Below(3)) {
    case 0:
      aggregation.op = aggregation.op == AggregationOp::kSum ? AggregationOp::kMean : AggregationOp::kSum;
      break;
    case 1:
      aggregation.not_finite =
          aggregation.not_finite == NotFiniteRule::kKeep ? NotFiniteRule::kSkip : NotFiniteRule::kKeep;
      break;
    default:
      ++overlay.policy.rounds_in_flight;
      break;
  }
  return overlay;
}

void ForBothWays(const Fault& fault, Cluster* cluster, const std::function<void(SimulatedLink*)>& change) {
  change(cluster->simulator()->network()->LinkFor(fault.node, fault.other));
  if (!fault.is_one_way) change(cluster->simulator()->network()->LinkFor(fault.other, fault.node));
}

}  // namespace

std::vector<Fault> DrawRoughFaults(const FaultPlanOptions& options, Random* random) {
  BANYAN_CHECK(!options.kinds.empty() && !options.links.empty());
  std::vector<Fault> faults;
  for (int i = 0; i < options.faults; ++i) {
    Fault fault;
    fault.at = Between(options.first, options.last, random);
    fault.kind = options.kinds[random->Below(options.kinds.size())];
    fault.node = fault.other = NodeId(static_cast<uint32_t>(1 + random->Below(options.workers.size())));
    fault.lasts = Between(absl::Milliseconds(100), 3 * options.lost_after, random);
    fault.is_one_way = random->Chance(0.5);
    fault.is_silent = random->Chance(0.2);
    switch (fault.kind) {
      case FaultKind::kRemoveNode:
        if (random->Chance(0.5)) {
          faults.push_back(Companion(FaultKind::kRestartScheduler, kSchedulerNode, fault.at, options, random));
        }
        if (random->Chance(0.4)) {
          const FaultKind kind = random->Chance(0.5) ? FaultKind::kKillNode : FaultKind::kLeave;
          faults.push_back(Companion(kind, fault.node, fault.at, options, random));
        }
        if (random->Chance(0.3)) {
          faults.push_back(Companion(FaultKind::kRestartScheduler, kSchedulerNode, fault.end(), options, random));
        }
        break;
      case FaultKind::kStandingStorage:
        fault.lasts = Between(options.lost_after, 3 * options.lost_after, random);
        // Its epoch's record is not durable for as long.
        if (random->Chance(0.7)) {
          faults.push_back(Companion(random->Chance(0.5) ? FaultKind::kKillNode : FaultKind::kLeave, fault.node,
                                     fault.at, options, random));
        }
        fault.node = fault.other = kSchedulerNode;
        break;
      case FaultKind::kOtherFile:
        fault.node = fault.other = kSchedulerNode;
        fault.lasts = Between(absl::Milliseconds(1), options.lost_after, random);
        break;
      default:
        std::tie(fault.node, fault.other) = options.links[random->Below(options.links.size())];
        if (fault.kind == FaultKind::kUnevenLink && random->Chance(0.2)) fault.other = kSchedulerNode;
        break;
    }
    faults.push_back(fault);
  }
  return faults;
}

std::vector<Fault> DrawStop(const FaultPlanOptions& options, Random* random) {
  Fault stop;
  stop.kind = FaultKind::kStopJob;
  stop.node = stop.other = kSchedulerNode;
  stop.at = Between(options.first, options.last, random);
  std::vector<Fault> faults = {stop};
  if (!random->Chance(0.5)) return faults;
  const FaultKind kind = random->Chance(0.5) ? FaultKind::kRestartScheduler : FaultKind::kStallStorage;
  faults.push_back(Companion(kind, kSchedulerNode, stop.at, options, random));
  if (random->Chance(0.5)) {
    faults.push_back(Companion(FaultKind::kRestartScheduler, kSchedulerNode, stop.at, options, random));
  }
  return faults;
}

std::vector<OperatorOrder> OrdersOf(const std::vector<Fault>& faults, const OverlayConfig& overlay) {
  std::vector<OperatorOrder> orders;
  for (const Fault& fault : faults) {
    if (fault.kind == FaultKind::kStopJob) {
      OperatorOrder stop;
      stop.at = fault.at;
      stop.stops = true;
      orders.push_back(std::move(stop));
    }
    if (fault.kind != FaultKind::kRemoveNode) continue;
    OperatorOrder removal;
    removal.at = fault.at;
    removal.removed = overlay.nodes[fault.node.value() - 1].name;
    OperatorOrder return_of_all;
    return_of_all.at = fault.end();
    return_of_all.is_repeated = true;
    orders.push_back(std::move(removal));
    orders.push_back(std::move(return_of_all));
  }
  std::sort(orders.begin(), orders.end(), [](const OperatorOrder& a, const OperatorOrder& b) { return a.at < b.at; });
  int edits = 0;
  for (OperatorOrder& order : orders) {
    if (order.removed.empty() && !order.stops) order.overlay_yaml = Edited(overlay, ++edits);
  }
  return orders;
}

bool BeginRoughFault(const Fault& fault, Random* random, Cluster* cluster) {
  SimulatedProcess* const process = cluster->simulator()->process(fault.node);
  switch (fault.kind) {
    case FaultKind::kRemoveNode:
    case FaultKind::kStopJob:
      return true;  // the operator gives the order
    case FaultKind::kStandingStorage:
      if (!process->running()) return false;
      process->StallStorageUntil(cluster->simulator()->now() + fault.lasts);
      return true;
    case FaultKind::kOtherFile:
      // Before the job has begun it is the file of the job that begins.
      if (!process->running() || cluster->epoch() == Epoch() || cluster->processes()->standby() != nullptr)
        return false;
      cluster->processes()->KillScheduler(fault.is_silent);
      return true;
    default:
      break;
  }
  const bool is_slow = fault.kind == FaultKind::kSlowLink;
  const double share = is_slow ? kLeastShare + (kMostShare - kLeastShare) * random->Unit() : 1;
  const absl::Duration delay = is_slow ? absl::ZeroDuration() : Between(absl::ZeroDuration(), kMostDelay, random);
  const absl::Duration jitter = is_slow ? absl::ZeroDuration() : Between(absl::ZeroDuration(), kMostDelay, random);
  ForBothWays(fault, cluster, [&](SimulatedLink* link) { link->Degrade(share, delay, jitter); });
  return true;
}

void EndRoughFault(const Fault& fault, Random* random, Cluster* cluster) {
  if (fault.kind == FaultKind::kOtherFile) {
    return cluster->processes()->StartSchedulerWithOtherFile(AnotherFile(cluster->overlay(), random));
  }
  if (fault.kind != FaultKind::kSlowLink && fault.kind != FaultKind::kUnevenLink) return;
  ForBothWays(fault, cluster, [](SimulatedLink* link) { link->Degrade(1, {}, {}); });
}

}  // namespace banyan
