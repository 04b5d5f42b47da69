// The answer to `banyan status`: a snapshot of the job as JSON. Pure function.
#ifndef BANYAN_SCHEDULER_STATUS_REPORT_H_
#define BANYAN_SCHEDULER_STATUS_REPORT_H_

#include <cstdint>
#include <string>

#include "core/ids.h"
#include "core/time.h"
#include "scheduler/key_table.h"
#include "scheduler/membership.h"
#include "scheduler/node_reports.h"
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
  const Membership& membership;
  const NodeReports& reports;
  const NetworkView& view;
  const KeyTable& keys;
  const RoundBook& rounds;
  const Policy* policy;  // nullptr before the first
};

// Design section 6, `status --json`, and beyond it `job`, `state`, `error`, `term`, `waiting_for`, `planner`,
// `rate_mbps`, `bound_mbps`, `keys` [{`key`, `elements`, `closed_rounds`}], and what the nodes report: in `nodes`
// [{`name`, `id`, `state`, `address`, `heard_s`, `workers`, `round` (of its slowest key; null before the first),
// `step`, `loss`, `sync_seconds`, `rejected_messages`, `memory` {what: bytes}}], in `links` `bytes` and `resent_bytes`.
std::string MakeStatusJson(const StatusSources& sources);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATUS_REPORT_H_
