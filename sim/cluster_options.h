// What a simulated job is made of. Value.
#ifndef BANYAN_SIM_CLUSTER_OPTIONS_H_
#define BANYAN_SIM_CLUSTER_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "precision/profile/precision_binding.h"
#include "protocol/protocol.h"
#include "sim/leadership/shared_storage.h"
#include "sim/network/simulated_network.h"
#include "sim/processes/simulated_operator.h"
#include "sim/processes/simulated_process.h"
#include "sim/processes/worker_listener.h"
#include "sim/training/contributor_fields.h"
#include "sim/training/training_plan.h"
#include "topology/overlay/link_schedule.h"
#include "topology/overlay/overlay_config.h"
#include "tracing/round_recorder.h"

namespace banyan {

struct ClusterOptions {
  uint64_t seed = 1;
  // At full size; the cores see it scaled down.
  OverlayConfig overlay;
  // What the cores are told instead, with the same nodes; empty: the overlay.
  std::optional<OverlayConfig> told;
  // Its tensors have the elements that the cores carry, each standing for `scale` elements.
  TrainingPlan plan;
  int64_t scale = 1;
  NetworkOptions network;  // its scale is set from above
  ProcessOptions process;  // likewise, and its clock
  absl::Duration link_jitter;
  // The changes of the links: at these times, and again and again.
  std::vector<LinkChange> link_changes;
  std::optional<LinkRedraw> link_redraw;
  std::vector<CrossTraffic> cross_traffic;
  // Each process's clock drifts by up to this, to either side.
  double most_drift_ppm = 0;
  // The standard deviation of the error in the links' rates that nodes report; 0.1 is 10%.
  double measurement_noise = 0;
  // Links lose packets as the overlay says; a simulation of rates may leave that out.
  bool links_lose_packets = true;
  // Packets' headers and the transport's acknowledgements take their part of the links' rates.
  bool links_have_headers = false;
  // Processes start at random times within this.
  absl::Duration start_within;
  // The orders that an operator gives the scheduler, in order of time; at full size.
  std::vector<OperatorOrder> orders;
  // The profile and the binding of low-bit rounds; empty: there are none.
  std::optional<PrecisionFiles> precision;
  // The binding as somebody edits it before the scheduler is started again; empty: nobody does.
  std::optional<PrecisionBinding> edited_binding;
  // Two schedulers share the job, and one of them leads. Empty: there is one.
  std::optional<StandbyOptions> standby;
  // These nodes are not there at the start.
  std::set<NodeId> absent;
  // Nodes and workers may end and start again. Their calls that fail by it are no violations. A core that says that it
  // fell out is started again. Results may lack whoever was not there.
  bool membership_changes = false;
  // Nothing happens to these: they stay members whatever happens to others and to the scheduler.
  std::set<NodeId> steady;
  // The source of the plan's values when results are to be checked by who is in them; outlives the cluster.
  ContributorFields* fields = nullptr;
  absl::Duration longest_pause = absl::Seconds(4);  // for which a process stands still
  // Watch every message, not only results.
  bool check_messages = true;
  // Turn every message into bytes and back, too.
  bool check_encoding = true;
  // Where nodes note what happens in rounds that are traced; outlives the cluster. nullptr: none is.
  std::map<NodeId, RoundRecorder>* recorders = nullptr;
  // The computing threads of these nodes are so many times as slow.
  std::map<NodeId, double> slow_computing;
  // Hears what all workers do, besides the checkers; outlives the cluster. nullptr for none.
  WorkerListener* listener = nullptr;
  // Puts something around a core, for tests that break it on purpose; empty for none.
  std::function<std::unique_ptr<Protocol>(NodeId, std::unique_ptr<Protocol>)> wrap_core;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CLUSTER_OPTIONS_H_
