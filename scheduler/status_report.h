// The answer to `banyan status`: a snapshot of the job as JSON. Pure function.
#ifndef BANYAN_SCHEDULER_STATUS_REPORT_H_
#define BANYAN_SCHEDULER_STATUS_REPORT_H_

#include <cstdint>
#include <string>

#include "core/ids.h"
#include "core/time.h"
#include "scheduler/key_table.h"
#include "scheduler/link_table.h"
#include "scheduler/membership.h"
#include "scheduler/node_reports.h"
#include "scheduler/published_policies.h"
#include "scheduler/round_book.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// What the snapshot is made from; everything outlives the call.
struct StatusSources {
  std::string job;
  std::string state;  // waiting, planning, running, failed, ended
  std::string error;  // empty unless failed
  Term term;
  Epoch epoch;
  uint64_t rejected_messages = 0;
  Timestamp now;
  absl::Duration predicted_round;  // 0 when unknown
  const Membership& membership;
  const NodeReports& reports;
  const LinkTable& links;
  const KeyTable& keys;
  const RoundBook& rounds;
  const PublishedPolicies& policies;
  uint64_t policies_taken_back = 0;
};

// Writes what `status --json` prints. Scripts read it, so its keys stay: `epoch`, `policy`, `trees`, `job`, `state`,
// `error`, `term`, `waiting_for`, `planner`, `rate_mbps`, `bound_mbps`, `keys` [{`key`, `elements`, `closed_rounds`}],
// `links` [{`from`, `to`, `mbps`, `delay_ms`, `age_s`, `source`}], and what the nodes report: in `nodes` [{`name`,
// `id`, `state`, `address`, `heard_s`, `workers`, `round` (of its slowest key; null before the first), `step`, `loss`,
// `sync_seconds`, `rejected_messages`, `memory` {what: bytes}}], in `links` `bytes`, `resent_bytes`, `auxiliary_bytes`,
// `busy_share` (of the last round, the part of the time with chunks on their way), `old` (measured too long ago to rely
// on), and of measured links `one_way_delay_mbps` (Eq. 14 of NETSTORM), `clock_offset_ms` (the receiver's clock minus
// the sender's) and `clock_uncertainty_ms`.
//
// Of the policy: `detour_rate_mbps` (the rate with ideal use of its detours), `bound_ratio` (that rate over
// `bound_mbps`; null for a single node), `policy_reason` (why it was made),
// `predicted_round_seconds` (what a round takes by the last planning; null while the model's size is unknown),
// `roots_fixed`, `live_policies` (versions that still govern rounds), `policies_taken_back`
// (since the start, because rounds were slower under them), `auxiliary_share` (of all bytes that nodes have
// sent, the part on detours; 0 before the first) and `slowest_link`
// {`from`, `to`, `mbps`, `busy_share`}: the link that was busy for the largest part of the last round, as its sender
// saw it; null before nodes have finished two rounds.
std::string MakeStatusJson(const StatusSources& sources);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATUS_REPORT_H_
