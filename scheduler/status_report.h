// The answer to `banyan status`: a snapshot of the job as JSON. Pure function.
#ifndef BANYAN_SCHEDULER_STATUS_REPORT_H_
#define BANYAN_SCHEDULER_STATUS_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "scheduler/epochs/epoch_history.h"
#include "scheduler/members/membership.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/open_round.h"
#include "scheduler/policy/link_outages.h"
#include "scheduler/policy/link_table.h"
#include "scheduler/policy/published_policies.h"
#include "scheduler/precision/precision_control.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/rounds/round_book.h"
#include "topology/inference/shared_ways.h"
#include "topology/inference/sharing_inference.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Of the links of a larger job the status lists so many.
inline constexpr size_t kMostLinksListed = 10000;

// The sources of the snapshot; everything outlives the call.
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
  std::string epoch_reason;               // why the last change of membership was
  std::string change_waits_for;           // empty when none is under way
  const EpochHistory* history = nullptr;  // none before the first
  std::vector<LinkOutages::Outage> outages;
  std::vector<NodeId> barrier_waits_for;  // members that have not entered a barrier in which others wait
  Timestamp last_progress;                // when a round was closed last
  std::string transfer = {};              // who fetches the training state, and what it waits for; empty: nobody
  std::optional<OpenRound> open_round = std::nullopt;
  std::string open_round_waits_for = {};   // whom, in words
  std::string disorder = {};               // how nodes differ in what they push; empty: they do not
  std::vector<SharedGroup> inferred = {};  // caps of hosts
  const PrecisionControl* precision = nullptr;
  std::vector<SharedWay> ways = {};  // links that others go by way of
  std::string keyless_address = {};  // where the scheduler listens without keys; empty: nobody comes in without
  std::string storage = {};          // for how long the storage of the state has stood; empty when it does not
};

// Makes the answer to `status --json`. Its members:
// - `job`, `state`, `error` (if failed), `term`, `epoch`, `policy` (version), `rejected_messages`, `waiting_for`
// (names), `insecure` (other machines reach the scheduler, which has no keys).
// - `change`: null, or for what the change of membership under way waits. `epochs`: {`count` (changes that have ended
//   since the start of the scheduler), `reason` (of the last), `total_seconds`, `longest_seconds` (from a cause to the
//   plan), `last`: [{`epoch`, `reason`, `members`, `seconds`}]}.
// - `open_round`: null, or the oldest round that somebody has pushed: {`key`, `round`, `not_pushed`, `not_held` (names
//   of the members that it waits for), `waits_for` (whom and what, in words), `since_s` (the last closed round)}.
//   `storage`: null, or for how long the state has not been written. `barrier_waits_for`: names. `disorder`: null, or
//   how nodes differ in what they push.
// - `transfer`: null, or who fetches the training state while the others wait, and from whom.
// - `links_out`: [{`between`, `seconds_left`, `why`}]: links that are planned without for now.
// - `precision`, where the job has a profile: {`profile`, `binding`, `state` (warm-up or decided), `admitted` (scopes),
//   `veto` (why admitted scopes fall back now), `vetoes` (that began), `vetoed_by_order` (scopes), `step` (that was
//   decided last), `violations` (chunks of another route than their round's), `sent` and `sent_low_bit` (gradients and
//   results on all hops since each member began: {`bytes`, `fp32_bytes` in their place}), `guard` (endpoint
//   or forced), `predicted`: [{`elements`, `element_bytes`, `low_bit_seconds`, `fp32_seconds`,
//   `low_bit_busy_seconds`, `fp32_busy_seconds`}] by sizes of candidates,
//   `audit`: of rounds that have closed since the scheduler began {`bits_per_element`, counts `candidates`, `all` and
//   `keys`: [{`key`, counts, `slices` where it has several: [{`first`, `elements`, `low_bit`, `fallback`, `plain`}]}]},
//   where counts are `low_bit`, `fallback`, `plain`, `mixed`, `violations`, `low_bit_share`, `veto_share`,
//   `traffic_ratio`}.
// - `nodes`: [{`name`, `id`, `state`, `address`, `heard_s`, `version` (of Banyan; empty when
//   it has not said it), `insecure` (other machines reach it, and it has no keys), `member`, and of a member
//   `incarnation`, `joined_in`}], as far as the overlay has them `up_mbps`, `down_mbps` and `place` [latitude,
//   longitude], and once the node has reported `workers`, `round` (of its slowest key; null before the first), `step`,
//   `loss`, `sync_seconds`, `rejected_messages`, `memory` {name: bytes}, `not_finite`: [{`key`, `values` (NaN and
//   infinities that its workers have pushed), `last_round`}].
// - `links`: [{`from`, `to`, `mbps`, `delay_ms`, `loss_percent`, `age_s`, `source`, `old` (measured too long ago to
// rely on), `bytes`,
//   `resent_bytes`, `auxiliary_bytes`, `busy_share` (part of the last round with chunks on their way),
//   `renewals` (connections that were made anew because nothing passed), `blocked` (small messages pass, large ones do
//   not), `cut_chunks` and `cut_bytes` (that they lacked as they left the queue), `overtakings` (of packets, as far as
//   the sender's kernel has seen)}], and once measured
//   `one_way_delay_mbps` (Eq. 14 of NETSTORM), `clock_offset_ms` (receiver's clock minus sender's) and
//   `clock_uncertainty_ms`.
// - `inferred`: [{`node`, `what` (sends or receives), `mbps`}]: caps of hosts, by what their links have carried
// - `ways`: [{`from`, `to`, `mbps`, `links`: [[from, to]]}]: links, what goes over each in all, and which links go that
//   way, by their delays; plans reckon with it
// together.
// - `links_left_out`: how many links are not in `links`, which has kMostLinksListed at most: those with trouble first,
//   then those that were busy for longest in the last round, then those that have carried anything.
// - `auxiliary_share`: the part of all sent bytes that went over auxiliary paths; 0 before the first.
// - Of the policy in use, if any: `planner`, `rate_mbps`, `auxiliary_rate_mbps` (with ideal use of its auxiliary
// paths),
//   `bound_mbps`, `bound_ratio` (that rate over the bound; null for a single node), `policy_reason`,
//   `predicted_round_seconds` (by the last plan; null while the model's size is unknown), `live_policies` (versions
//   that govern open rounds), `policies_taken_back` (since the start of the scheduler, because rounds were slower under
//   them), `slowest_link` {`from`, `to`, `mbps`, `busy_share`} (busy for the largest part of the last round, as its
//   sender saw it; null before nodes have finished two rounds).
// - `trees`: [{`root`, `share`, `reduce`, `broadcast` {node: parent}}]; `keys`: [{`key`, `elements`, `closed_rounds`}].
std::string MakeStatusJson(const StatusSources& sources);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATUS_REPORT_H_
