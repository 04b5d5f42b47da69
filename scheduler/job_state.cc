#include "scheduler/job_state.h"

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {

void JobState::Restore(Term term, Epoch epoch) {
  term_ = term;
  epoch_ = epoch;
}

void JobState::BeginPlanning() {
  BANYAN_CHECK(phase_ == JobPhase::kJoining);
  phase_ = JobPhase::kPlanning;
  epoch_ = epoch_.Next();
}

void JobState::BeginEpoch() {
  BANYAN_CHECK(phase_ == JobPhase::kRunning);
  epoch_ = epoch_.Next();
}

void JobState::ReturnToJoining() {
  BANYAN_CHECK(phase_ == JobPhase::kPlanning);
  phase_ = JobPhase::kJoining;
}

void JobState::Run() {
  BANYAN_CHECK(IsStarting());
  phase_ = JobPhase::kRunning;
}

void JobState::Fail(absl::Status failure, bool is_asked_for) {
  BANYAN_CHECK(!IsOver() && !failure.ok());
  phase_ = JobPhase::kFailed;
  failure_ = std::move(failure);
  failure_is_asked_for_ = is_asked_for;
}

void JobState::End() {
  BANYAN_CHECK(IsRunning());
  phase_ = JobPhase::kEnded;
}

void JobState::BeOver() {
  BANYAN_CHECK(phase_ == JobPhase::kJoining);
  phase_ = JobPhase::kEnded;
}

const char* JobState::PhaseName() const {
  switch (phase_) {
    case JobPhase::kJoining:
      return "waiting";
    case JobPhase::kPlanning:
      return "planning";
    case JobPhase::kRunning:
      return "running";
    case JobPhase::kFailed:
      return failure_is_asked_for_ ? "stopped" : "failed";
    case JobPhase::kEnded:
      return "ended";
    case JobPhase::kStopped:
      return "stopped";
  }
  return "unknown";
}

std::string JobState::DescribeEnd() const {
  const std::string reason(failure_.message());
  return failure_is_asked_for_ ? absl::StrCat("job '", job_, "' was ", reason) : absl::StrCat("job failed: ", reason);
}

JobFailed JobState::MakeJobFailed() const {
  BANYAN_CHECK(!failure_.ok());
  return JobFailed{term_, failure_.code(), std::string(failure_.message()), failure_is_asked_for_};
}

}  // namespace banyan
