// Puts a job together from what the records of earlier starts say. The parts are restored in the order of the methods:
// each builds on those before. Thread-compatible; lives for the construction of the core.
//
// Invariants:
// - Nothing is restored that the records contradict: each method checks before the next one builds on it.
// - No record is written, and no node hears of anything.
#ifndef BANYAN_SCHEDULER_JOB_RESTORER_H_
#define BANYAN_SCHEDULER_JOB_RESTORER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/policy/policy_publisher.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_registrar.h"
#include "scheduler/state/recovered_state.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

class JobRestorer {
 public:
  // REQUIRES: `state` comes from ReplayStateRecords for this job and its nodes; it outlives this.
  explicit JobRestorer(const RecoveredState& state) : state_(state) {}

  // Returns whether the job was running; if not, only RestoreNodes has something to do.
  bool is_running() const { return state_.is_running(); }
  // The links that were measured when the newest policy was made. REQUIRES: is_running().
  const std::vector<NetworkLink>& measured() const { return state_.policies.back().measured; }
  const PrecisionState& precision() const { return state_.precision; }
  uint64_t next_barrier() const { return state_.next_barrier; }

  // Begins the next term, and takes the numbers that are used up.
  void RestoreNumbers(JobState& job, PolicyPublisher& publisher) const;
  // Takes the nodes of earlier starts. REQUIRES: those that a reconfiguration has added are there.
  void RestoreNodes(JobMembers& members) const;
  // Changes `overlay` to that of the job's last reconfiguration, whatever the file says now. The name of that
  // reconfiguration's file; empty without one. It may have added nodes. FAILED_PRECONDITION when the nodes are others
  // now.
  absl::StatusOr<std::optional<std::string>> RestoreOverlay(OverlayConfig& overlay) const;
  // Checks that the running job's settings are still those of `overlay`. FAILED_PRECONDITION names one that is not.
  absl::Status CheckSettings(const OverlayConfig& overlay) const;
  // Returns the record that is due of the job's settings under `overlay`; empty when there is none.
  std::optional<SettingsRecord> NewSettings(const OverlayConfig& overlay) const;
  // Takes the keys, and binds rounds to the newest policy from now on. DATA_LOSS names a key that cannot be.
  absl::Status RestoreKeys(KeyRegistrar& keys, JobRounds& rounds) const;
  // Takes the policies that govern open rounds. FAILED_PRECONDITION names one that does not fit the links of
  // `believed`.
  absl::Status RestorePolicies(const NetworkView& believed, const JobRounds& rounds, PolicyPublisher& publisher) const;
  // Expects the members of the running job back.
  void RestoreMembers(JobMembers& members) const;

 private:
  absl::Status CheckPolicy(const Policy& policy, const NetworkView& believed) const;

  const RecoveredState& state_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_JOB_RESTORER_H_
