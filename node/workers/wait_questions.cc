#include "node/workers/wait_questions.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

// For the user, who needs no more than tenths.
std::string SecondsText(absl::Duration time) {
  return absl::FormatDuration(
      absl::Trunc(time, time < absl::Seconds(1) ? absl::Milliseconds(1) : absl::Milliseconds(100)));
}

// For the scheduler's answer, and between two looks.
constexpr absl::Duration kPatience = absl::Milliseconds(500);

}  // namespace

void WaitQuestions::Answer(StepContext& step, RequestId request, absl::Status status) {
  step.actions.emplace_back(std::in_place_type<CompleteRequest>,
                            CompleteRequest{request, std::move(status), KeyId(), Round()});
}

std::string WaitQuestions::DescribeWorkers(const std::vector<WorkerId>& workers) const {
  return absl::StrCat(
      workers.size() == 1 ? "worker " : "workers ",
      absl::StrJoin(workers, ", ", [](std::string* out, WorkerId worker) { absl::StrAppend(out, worker.value()); }),
      " of ", node_);
}

std::string WaitQuestions::DescribeScheduler(Timestamp now) const {
  const std::string silence = scheduler_->Silence(now) > absl::ZeroDuration()
                                  ? absl::StrCat(", not heard for ", SecondsText(scheduler_->Silence(now)))
                                  : "";
  const std::string& reason = scheduler_->connect_reason();
  return absl::StrCat("the scheduler at ", scheduler_->address(), silence,
                      reason.empty() ? "" : absl::StrCat(", which cannot be reached: ", reason));
}

std::string WaitQuestions::Describe(Timestamp now, const LocalWait& wait, const std::string& whom) const {
  const absl::Duration waited = now - wait.since;
  return absl::StrCat(wait.what, " waits ", waited > absl::ZeroDuration() ? SecondsText(waited) + " " : "", "for ",
                      whom);
}

WaitQuestions::Asked* WaitQuestions::Ask(StepContext& step, const LocalWait& wait) {
  if (!scheduler_->joined()) return nullptr;
  // A key without an id is one of a job that has not started.
  const About about = wait.has_id ? About{wait.key, wait.round} : About{KeyId(), WaitQuestion::kJob};
  const auto [entry, is_new] = asked_.try_emplace(about);
  if (is_new) {
    entry->second.at = step.now;
    scheduler_->Send(step, WaitQuestion{about.first, about.second});
  }
  entry->second.wait = wait;
  return &entry->second;
}

void WaitQuestions::AnswerBeforeJoin(StepContext& step, const WorkerDescribeWait& question) const {
  Answer(step, question.request,
         absl::DeadlineExceededError(absl::StrCat(node_, " waits for ", DescribeScheduler(step.now))));
}

void WaitQuestions::OnQuestion(StepContext& step, const WorkerDescribeWait& question, const LocalWaits& waits) {
  std::optional<LocalWait> wait = waits.Find(question.worker, question.name);
  if (!wait.has_value()) {
    if (!question.name.empty()) return Answer(step, question.request, absl::OkStatus());
    // It may be at a boundary: the scheduler knows what holds all up.
    wait = LocalWait{"the job", KeyId(), WaitQuestion::kJob, step.now, {}};
  }
  std::string whom = DescribeScheduler(step.now);
  if (!wait->missing.empty()) {
    whom = DescribeWorkers(wait->missing);
  } else if (Asked* asked = Ask(step, *wait); asked != nullptr) {
    return asked->requests.push_back(question.request);
  }
  Answer(step, question.request, absl::DeadlineExceededError(Describe(step.now, *wait, whom)));
}

void WaitQuestions::OnAnswer(StepContext& step, const WaitAnswer& answer) {
  const auto asked = asked_.extract(About{answer.key, answer.round});
  if (!asked.empty()) return Finish(step, asked.mapped(), answer.text);
  // What the scheduler says of the job by itself is for the operator.
  if (answer.key == KeyId() && answer.round == WaitQuestion::kJob) step.Log(LogLevel::kWarning, answer.text);
}

void WaitQuestions::Finish(StepContext& step, const Asked& asked, const std::string& whom) {
  const std::string text = Describe(step.now, asked.wait, whom);
  if (asked.is_logged) step.Log(LogLevel::kWarning, text);
  for (const RequestId request : asked.requests) Answer(step, request, absl::DeadlineExceededError(text));
}

void WaitQuestions::OnDeadline(StepContext& step, const LocalWaits& waits) {
  if (step.now < next_look_) return;
  next_look_ = step.now + kPatience;
  for (auto entry = asked_.begin(); entry != asked_.end();) {
    const auto asked = entry++;
    if (step.now - asked->second.at < kPatience) continue;
    Finish(step, asked->second, DescribeScheduler(step.now));
    asked_.erase(asked);
  }
  if (const std::optional<LocalWait> longest = waits.Oldest(); longest.has_value()) LogLongest(step, *longest);
}

void WaitQuestions::LogLongest(StepContext& step, const LocalWait& longest) {
  const About about{longest.key, longest.round};
  if (longest_ != about) next_log_ = kLong;
  longest_ = about;
  if (step.now - longest.since < next_log_) return;
  next_log_ = 2 * next_log_;
  std::string whom = DescribeScheduler(step.now);
  if (!longest.missing.empty()) {
    whom = DescribeWorkers(longest.missing);
  } else if (Asked* asked = Ask(step, longest); asked != nullptr) {
    asked->is_logged = true;
    return;
  }
  step.Log(LogLevel::kWarning, Describe(step.now, longest, whom));
}

void WaitQuestions::EndAll(StepContext& step, const absl::Status& status) {
  for (const auto& [about, asked] : std::exchange(asked_, {})) {
    for (const RequestId request : asked.requests) Answer(step, request, status);
  }
}

}  // namespace banyan
