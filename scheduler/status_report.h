// The answer to `banyan status`: a snapshot of the job. Pure function.
#ifndef BANYAN_SCHEDULER_STATUS_REPORT_H_
#define BANYAN_SCHEDULER_STATUS_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "proto/status.h"
#include "scheduler/epochs/epoch_history.h"
#include "scheduler/members/membership.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/open_round.h"
#include "scheduler/policy/link_outages.h"
#include "scheduler/policy/link_table.h"
#include "scheduler/policy/published_policies.h"
#include "scheduler/precision/precision_control.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"
#include "topology/inference/shared_ways.h"
#include "topology/inference/sharing_inference.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Of the links of a larger job the status lists so many.
inline constexpr size_t kMostLinksListed = 10000;
// Of all trees that it lists, since a plan for many nodes has many trees with an edge or two to each.
inline constexpr size_t kMostEdgesListed = 8192;

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
  const JobRounds& rounds;
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

JobStatus MakeStatus(const StatusSources& sources);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATUS_REPORT_H_
