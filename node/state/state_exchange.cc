#include "node/state/state_exchange.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// How long the scheduler may take to say whom a call that has timed out waited for.
constexpr absl::Duration kLastWord = absl::Seconds(2);

}  // namespace

// ---- workers ----

void StateExchange::OnCall(StepContext& step, const StateCall& call) {
  std::visit(
      [&](const auto& concrete) {
        if (failed_.ok()) return On(step, concrete);
        if constexpr (requires { concrete.request; }) CompleteStateCall(step, concrete.request, failed_, 0);
      },
      call);
  Settle(step);
}

void StateExchange::On(StepContext& step, const WorkerShareState& call) {
  if (call.shape.parts.empty()) {
    if (fetching_.count(call.worker) > 0) {
      return CompleteStateCall(step, call.request, absl::FailedPreconditionError("the worker fetches"), 0);
    }
    server_.ShareNothing(call.worker);
    // It does not wait for the rounds with which others of this node are to begin.
    FetchAnew(step);
    workers_->BeginAnywhere(step, call.worker);
    return CompleteStateCall(step, call.request, absl::OkStatus(), 0);
  }
  CompleteStateCall(step, call.request, server_.Share(call.worker, call.shape), 0);
}

void StateExchange::Fetch(StepContext& step, const Queued& wanted) {
  const WorkerFetchState& call = wanted.call;
  const auto refuse = [&](absl::Status status) { CompleteStateCall(step, call.request, std::move(status), 0); };
  const StateShape* shape = server_.ShapeOf(call.worker);
  if (shape == nullptr) return refuse(absl::FailedPreconditionError("the worker has not shared its state before"));
  if (fetching_.count(call.worker) > 0) return refuse(absl::FailedPreconditionError("the worker fetches already"));
  if (workers_->HasMissedNothing(call.worker)) {
    workers_->BeginAnywhere(step, call.worker);
    return refuse(absl::NotFoundError("no round is over that this worker has missed"));
  }
  if (has_told_end_ || last_word_at_.has_value()) return queued_.push_back(wanted);
  if (absl::Status status = fetcher_.AddWorker(step, call.worker, *shape); !status.ok()) {
    return refuse(std::move(status));
  }
  const bool is_first = fetching_.empty();
  fetching_[call.worker] = {call.request, wanted.deadline};
  server_.NoteFetching(call.worker);
  workers_->Abstain(step, call.worker);
  if (is_first) return mail_->to_scheduler.push_back(StateWanted{++fetch_});
  if (fetcher_.transfer() != TransferId()) workers_->AbstainUntil(step, fetcher_.pushed());
}

void StateExchange::OnWorkerGone(StepContext& step, WorkerId worker) {
  server_.OnWorkerGone(step, worker);
  fetcher_.OnWorkerGone(worker);
  const absl::Status status = absl::UnavailableError(absl::StrCat("worker ", worker.value(), " has gone"));
  std::erase_if(queued_, [&](const Queued& wanted) {
    if (wanted.call.worker == worker) CompleteStateCall(step, wanted.call.request, status, 0);
    return wanted.call.worker == worker;
  });
  const auto gone = fetching_.extract(worker);
  if (!gone.empty()) {
    CompleteStateCall(step, gone.mapped().request, status, 0);
    if (fetching_.empty()) GiveUp(step, status);
  }
  Settle(step);
}

// ---- the scheduler ----

void StateExchange::OnSought(StepContext& step, const StateSought& sought) {
  if (!failed_.ok()) return;
  server_.OnSought(step, sought);
  // The end of this node's transfer was lost with a connection.
  if (sought.transfer > fetcher_.transfer() && !has_told_end_) FetchAnew(step);
  Settle(step);
}

void StateExchange::OnHolders(StepContext& step, const StateHolders& holders) {
  if (fetching_.empty() || holders.fetch != fetch_) {
    // Its call, said again on a new connection, and the scheduler's last answer to it have crossed.
    mail_->to_scheduler.push_back(
        FetchEnded{holders.transfer, holders.fetch, false, "it does not wait for it any more"});
    return;
  }
  if (holders.transfer != fetcher_.transfer()) {
    has_told_end_ = false;
    workers_->AbstainUntil(step, holders.pushed);
  }
  fetcher_.OnHolders(step, holders);
  Settle(step);
}

void StateExchange::OnReleased(StepContext& step, const StateReleased& released) {
  if (released.code == absl::StatusCode::kOk) {
    server_.OnReleased(step, released.transfer);
    const bool is_of_this = has_told_end_ && released.transfer == fetcher_.transfer() && released.fetch == fetch_;
    if (is_of_this) EndWell(step);
    if (released.transfer >= fetcher_.transfer() && !has_told_end_) FetchAnew(step);
  } else if (!fetching_.empty() && released.fetch == fetch_) {
    const auto code = last_word_at_.has_value() ? absl::StatusCode::kDeadlineExceeded : released.code;
    EndCalls(step, absl::Status(code, released.reason));
  }
  Settle(step);
}

void StateExchange::OnSchedulerConnected(StepContext& step, Term term) {
  const bool is_new = term != std::exchange(term_, term);
  if (is_new) server_.ReleaseAll(step);
  if (!fetching_.empty() && !last_word_at_.has_value()) {
    // Whoever was held for an earlier start is not any more.
    const bool has_said_it = is_new && FetchAnew(step);
    if (!has_said_it && has_told_end_) {
      mail_->to_scheduler.push_back(FetchEnded{fetcher_.transfer(), fetch_, true, ""});
    } else if (!has_said_it) {
      mail_->to_scheduler.push_back(StateWanted{fetch_});
    }
  }
  // The scheduler may not have heard of the end of the last one.
  if (fetching_.empty() && fetch_ > 0) {
    mail_->to_scheduler.push_back(FetchEnded{TransferId(), fetch_, false, "the node fetches nothing"});
  }
  Settle(step);
}

void StateExchange::OnSchedulerSilent(StepContext& step) {
  server_.OnSchedulerSilent(step);
  FetchAnew(step);
  Settle(step);
}

bool StateExchange::FetchAnew(StepContext& step) {
  if (fetching_.empty() || fetcher_.transfer() == TransferId()) return false;
  has_told_end_ = false;
  fetcher_.Restart();
  workers_->AbstainFromAll(step);
  mail_->to_scheduler.push_back(StateWanted{fetch_});
  BeginQueued(step);
  return true;
}

// ---- other nodes ----

void StateExchange::OnPeerMessage(StepContext& step, const Message& message, const Payload& payload) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&message)) {
    if (fetcher_.OnChunk(step, *chunk, payload)) {
      for (const WorkerId worker : fetcher_.workers()) GiveTask(step, WriteState{worker, chunk->id.chunk, payload[0]});
    }
  } else {
    HandStateMessage(step, message, server_, fetcher_);
  }
  Settle(step);
}

void StateExchange::OnEpochPlan(StepContext& step) {
  fetcher_.Resume(step);
  Settle(step);
}

// ---- ends ----

void StateExchange::Settle(StepContext& step) {
  while (!mail_->to_self.empty()) {
    const auto [message, payload] = std::move(mail_->to_self.front());
    mail_->to_self.pop_front();
    OnPeerMessage(step, message, payload);
  }
  if (fetcher_.phase() == StateFetcher::Phase::kFailed) GiveUp(step, absl::Status(fetcher_.failure()));
  const bool has_state =
      fetcher_.phase() == StateFetcher::Phase::kComplete && workers_->HasResultsOf(fetcher_.pushed());
  if (has_state && !has_told_end_) {
    has_told_end_ = true;
    mail_->to_scheduler.push_back(FetchEnded{fetcher_.transfer(), fetch_, true, ""});
  }
}

void StateExchange::GiveUp(StepContext& step, const absl::Status& status) {
  mail_->to_scheduler.push_back(FetchEnded{fetcher_.transfer(), fetch_, false, std::string(status.message())});
  EndCalls(step, status);
}

void StateExchange::EndCalls(StepContext& step, const absl::Status& status) {
  fetcher_.Clear();
  has_told_end_ = false;
  last_word_at_.reset();
  workers_->AbstainFromAll(step);
  for (const auto& [worker, fetching] : std::exchange(fetching_, {})) {
    if (absl::IsNotFound(status)) workers_->BeginAnywhere(step, worker);
    server_.NoteFetched(worker);
    CompleteStateCall(step, fetching.request, status, 0);
  }
  BeginQueued(step);
}

void StateExchange::EndWell(StepContext& step) {
  for (const auto& [worker, fetching] : std::exchange(fetching_, {})) {
    workers_->BeginAfter(step, worker, fetcher_.pushed());
    server_.NoteFetched(worker);
    CompleteStateCall(step, fetching.request, absl::OkStatus(), fetcher_.boundary());
  }
  fetcher_.Clear();
  has_told_end_ = false;
  workers_->AbstainFromAll(step);
  BeginQueued(step);
}

void StateExchange::BeginQueued(StepContext& step) {
  for (const Queued& wanted : std::exchange(queued_, {})) Fetch(step, wanted);
}

void StateExchange::FailAll(StepContext& step, const absl::Status& status) {
  failed_ = status;
  server_.FailAll(step, status);
  for (const Queued& wanted : std::exchange(queued_, {})) {
    CompleteStateCall(step, wanted.call.request, status, 0);
  }
  EndCalls(step, status);
  mail_->to_self.clear();
}

void StateExchange::OnTimeout(StepContext& step, WorkerId worker) {
  const absl::Status status = absl::DeadlineExceededError(absl::StrCat("the fetch ", fetcher_.Describe()));
  if (fetching_.size() == 1) {
    // Nobody here knows who has not reached a boundary.
    if (fetcher_.phase() != StateFetcher::Phase::kNoHolders) return GiveUp(step, status);
    mail_->to_scheduler.push_back(FetchEnded{TransferId(), fetch_, false, "its call has timed out"});
    last_word_at_ = step.now + kLastWord;
    fetching_.begin()->second.deadline = kNever;
    return;
  }
  const auto timed_out = fetching_.extract(worker);
  fetcher_.RemoveWorker(worker);
  // The scheduler takes what this node has said for the end of the fetch: the others fetch anew.
  mail_->to_scheduler.push_back(FetchEnded{fetcher_.transfer(), fetch_, false, std::string(status.message())});
  ++fetch_;
  if (!FetchAnew(step)) mail_->to_scheduler.push_back(StateWanted{fetch_});
  server_.NoteFetched(worker);
  CompleteStateCall(step, timed_out.mapped().request, status, 0);
}

void StateExchange::OnDeadline(StepContext& step) {
  fetcher_.OnDeadline(step);
  if (last_word_at_.has_value() && step.now >= *last_word_at_) {
    EndCalls(step, absl::DeadlineExceededError("the fetch waits for nodes to reach a boundary"));
  }
  std::erase_if(queued_, [&](const Queued& wanted) {
    if (step.now < wanted.deadline) return false;
    CompleteStateCall(step, wanted.call.request,
                      absl::DeadlineExceededError("the fetch waits for the end of another worker's"), 0);
    return true;
  });
  std::vector<WorkerId> late;
  for (const auto& [worker, fetching] : fetching_) {
    if (step.now >= fetching.deadline) late.push_back(worker);
  }
  for (WorkerId worker : late) OnTimeout(step, worker);
  Settle(step);
}

Timestamp StateExchange::NextDeadline() const {
  Timestamp next = std::min(fetcher_.NextDeadline(), last_word_at_.value_or(kNever));
  for (const auto& [worker, fetching] : fetching_) next = std::min(next, fetching.deadline);
  for (const Queued& wanted : queued_) next = std::min(next, wanted.deadline);
  return next;
}

}  // namespace banyan
