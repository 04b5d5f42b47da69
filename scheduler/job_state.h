// Where the job stands: its phase, the term of this start of the scheduler, the epoch of its members, and why it
// failed. Thread-compatible; owned by the core.
//
// Invariants:
// - kJoining and kPlanning alternate until a plan has succeeded; only then comes kRunning.
// - A job that has failed or ended stays so: the next start of the scheduler begins another one.
// - failure() is an error exactly in kFailed, and in kStopped when the job failed before.
#ifndef BANYAN_SCHEDULER_JOB_STATE_H_
#define BANYAN_SCHEDULER_JOB_STATE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/ids.h"
#include "proto/scheduler_messages.h"

namespace banyan {

enum class JobPhase : uint8_t { kJoining, kPlanning, kRunning, kFailed, kEnded, kStopped };

class JobState {
 public:
  explicit JobState(std::string job) : job_(std::move(job)) {}

  // Takes the term of this start, and the epoch of the last plan that earlier starts have recorded.
  void Restore(Term term, Epoch epoch);
  // The nodes are complete: a plan of a new epoch is made for them. REQUIRES: kJoining.
  void BeginPlanning();
  // The nodes are not complete any more: the plan is void. REQUIRES: kPlanning.
  void ReturnToJoining();
  // Membership of the running job changes. REQUIRES: kRunning.
  void BeginEpoch();
  // Rounds run from now on.
  void Run();
  // Records why the job failed; `is_asked_for` when somebody asked for the stop. REQUIRES: not over.
  void Fail(absl::Status failure, bool is_asked_for);
  // All members have left. REQUIRES: kRunning.
  void End();
  // The job was over when this start of the scheduler began. REQUIRES: kJoining.
  void BeOver();
  // The scheduler stops.
  void Stop() { phase_ = JobPhase::kStopped; }

  const std::string& job() const { return job_; }
  JobPhase phase() const { return phase_; }
  // The phase's name in `banyan status`.
  const char* PhaseName() const;
  bool IsStarting() const { return phase_ == JobPhase::kJoining || phase_ == JobPhase::kPlanning; }
  bool IsRunning() const { return phase_ == JobPhase::kRunning; }
  bool IsOver() const { return !IsStarting() && !IsRunning(); }
  Term term() const { return term_; }
  Epoch epoch() const { return epoch_; }
  const absl::Status& failure() const { return failure_; }
  // Returns whether somebody asked for the end.
  bool was_stopped() const { return failure_is_asked_for_; }
  // With what the process of a scheduler ends whose job is over: OK unless it failed by itself.
  absl::Status EndStatus() const { return failure_is_asked_for_ ? absl::OkStatus() : failure_; }
  // Says that the job failed and why, or that it was stopped. REQUIRES: it has failed.
  std::string DescribeEnd() const;
  // Tells a node why the job failed. REQUIRES: it has failed.
  JobFailed MakeJobFailed() const;

 private:
  std::string job_;
  JobPhase phase_ = JobPhase::kJoining;
  Term term_;
  Epoch epoch_;
  absl::Status failure_;
  bool failure_is_asked_for_ = false;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_JOB_STATE_H_
