#include "node/state/state_exchange.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// How long the scheduler may take to say whom a call that has timed out waited for.
constexpr absl::Duration kLastWord = absl::Seconds(2);

// Says whether the message goes no further than the node that sends it.
bool IsLocal(const SourceRoute& route) { return route.path.size() == 1; }

const SourceRoute* RouteOf(const Message& message) {
  return std::visit(
      [](const auto& concrete) -> const SourceRoute* {
        if constexpr (requires { concrete.route; }) {
          return &concrete.route;
        } else {
          return nullptr;
        }
      },
      message);
}

}  // namespace

StateExchange::StateExchange(StateFetcher::Settings settings, StateOutlet* outlet)
    : outlet_(outlet), server_(this), fetcher_(settings, this) {}

// ---- workers ----

void StateExchange::OnCall(StepContext& step, const StateCall& call) {
  std::visit(
      [&](const auto& concrete) {
        if (failed_.ok()) return On(step, concrete);
        if constexpr (requires { concrete.request; }) outlet_->CompleteStateCall(step, concrete.request, failed_, 0);
      },
      call);
  Settle(step);
}

void StateExchange::On(StepContext& step, const WorkerShareState& call) {
  if (call.shape.parts.empty()) {
    if (fetching_.count(call.worker) > 0) {
      return outlet_->CompleteStateCall(step, call.request, absl::FailedPreconditionError("the worker fetches"), 0);
    }
    server_.ShareNothing(step, call.worker);
    // It does not wait for the rounds with which others of this node are to begin.
    FetchAnew(step);
    outlet_->BeginAnywhere(step, call.worker);
    return outlet_->CompleteStateCall(step, call.request, absl::OkStatus(), 0);
  }
  outlet_->CompleteStateCall(step, call.request, server_.Share(call.worker, call.shape), 0);
}

void StateExchange::Fetch(StepContext& step, const Queued& wanted) {
  const WorkerFetchState& call = wanted.call;
  const auto refuse = [&](absl::Status status) {
    outlet_->CompleteStateCall(step, call.request, std::move(status), 0);
  };
  const StateShape* shape = server_.ShapeOf(call.worker);
  if (shape == nullptr) return refuse(absl::FailedPreconditionError("the worker has not shared its state before"));
  if (fetching_.count(call.worker) > 0) return refuse(absl::FailedPreconditionError("the worker fetches already"));
  if (outlet_->HasMissedNothing(call.worker)) {
    outlet_->BeginAnywhere(step, call.worker);
    return refuse(absl::NotFoundError("no round is over that this worker has missed"));
  }
  if (has_told_end_ || last_word_at_.has_value()) return queued_.push_back(wanted);
  if (absl::Status status = fetcher_.AddWorker(step, call.worker, *shape); !status.ok()) {
    return refuse(std::move(status));
  }
  const bool is_first = fetching_.empty();
  fetching_[call.worker] = {call.request, wanted.deadline};
  server_.NoteFetching(step, call.worker);
  outlet_->Abstain(step, call.worker);
  if (is_first) return BeginFetch(step);
  if (fetcher_.transfer() != TransferId()) outlet_->AbstainUntil(step, fetcher_.pushed());
}

void StateExchange::BeginFetch(StepContext& step) {
  ++fetch_;
  outlet_->TellScheduler(step, StateWanted{fetch_});
}

void StateExchange::OnWorkerGone(StepContext& step, WorkerId worker) {
  server_.OnWorkerGone(step, worker);
  fetcher_.OnWorkerGone(worker);
  const absl::Status status = absl::UnavailableError(absl::StrCat("worker ", worker.value(), " has gone"));
  std::erase_if(queued_, [&](const Queued& wanted) {
    if (wanted.call.worker == worker) outlet_->CompleteStateCall(step, wanted.call.request, status, 0);
    return wanted.call.worker == worker;
  });
  const auto gone = fetching_.extract(worker);
  if (!gone.empty()) {
    outlet_->CompleteStateCall(step, gone.mapped().request, status, 0);
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
  if (fetching_.empty() || holders.fetch != fetch_) return;
  if (holders.transfer != fetcher_.transfer()) {
    has_told_end_ = false;
    outlet_->AbstainUntil(step, holders.pushed);
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
      outlet_->TellScheduler(step, FetchEnded{fetcher_.transfer(), fetch_, true, ""});
    } else if (!has_said_it) {
      outlet_->TellScheduler(step, StateWanted{fetch_});
    }
  }
  // The scheduler may not have heard of the end of the last one.
  if (fetching_.empty() && fetch_ > 0) {
    outlet_->TellScheduler(step, FetchEnded{TransferId(), fetch_, false, "the node fetches nothing"});
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
  outlet_->AbstainFromAll(step);
  outlet_->TellScheduler(step, StateWanted{fetch_});
  BeginQueued(step);
  return true;
}

// ---- other nodes ----

void StateExchange::OnPeerMessage(StepContext& step, const Message& message, const Payload& payload) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&message)) {
    fetcher_.OnChunk(step, *chunk, payload);
  } else if (const auto* wanted = std::get_if<StateManifestWanted>(&message)) {
    server_.OnManifestWanted(step, *wanted);
  } else if (const auto* manifest = std::get_if<StateManifest>(&message)) {
    fetcher_.OnManifest(step, *manifest);
  } else if (const auto* request = std::get_if<StateRequest>(&message)) {
    server_.OnRequest(step, *request);
  } else if (const auto* refused = std::get_if<StateRefused>(&message)) {
    fetcher_.OnRefused(step, *refused);
  }
  Settle(step);
}

void StateExchange::OnEpochPlan(StepContext& step) {
  fetcher_.Resume(step);
  Settle(step);
}

// ---- ends ----

void StateExchange::Settle(StepContext& step) {
  while (!local_.empty()) {
    const auto [message, payload] = std::move(local_.front());
    local_.pop_front();
    OnPeerMessage(step, message, payload);
  }
  if (fetcher_.phase() == StateFetcher::Phase::kFailed) GiveUp(step, absl::Status(fetcher_.failure()));
  const bool has_state = fetcher_.phase() == StateFetcher::Phase::kComplete && outlet_->HasResultsOf(fetcher_.pushed());
  if (has_state && !has_told_end_) {
    has_told_end_ = true;
    outlet_->TellScheduler(step, FetchEnded{fetcher_.transfer(), fetch_, true, ""});
  }
}

void StateExchange::GiveUp(StepContext& step, const absl::Status& status) {
  outlet_->TellScheduler(step, FetchEnded{fetcher_.transfer(), fetch_, false, std::string(status.message())});
  EndCalls(step, status);
}

void StateExchange::EndCalls(StepContext& step, const absl::Status& status) {
  fetcher_.Clear();
  has_told_end_ = false;
  last_word_at_.reset();
  outlet_->AbstainFromAll(step);
  for (const auto& [worker, fetching] : std::exchange(fetching_, {})) {
    if (absl::IsNotFound(status)) outlet_->BeginAnywhere(step, worker);
    server_.NoteFetched(worker);
    outlet_->CompleteStateCall(step, fetching.request, status, 0);
  }
  BeginQueued(step);
}

void StateExchange::EndWell(StepContext& step) {
  for (const auto& [worker, fetching] : std::exchange(fetching_, {})) {
    outlet_->BeginAfter(step, worker, fetcher_.pushed());
    server_.NoteFetched(worker);
    outlet_->CompleteStateCall(step, fetching.request, absl::OkStatus(), fetcher_.boundary());
  }
  fetcher_.Clear();
  has_told_end_ = false;
  outlet_->AbstainFromAll(step);
  BeginQueued(step);
}

void StateExchange::BeginQueued(StepContext& step) {
  for (const Queued& wanted : std::exchange(queued_, {})) Fetch(step, wanted);
}

void StateExchange::FailAll(StepContext& step, const absl::Status& status) {
  failed_ = status;
  server_.FailAll(step, status);
  for (const Queued& wanted : std::exchange(queued_, {})) {
    outlet_->CompleteStateCall(step, wanted.call.request, status, 0);
  }
  EndCalls(step, status);
  local_.clear();
}

void StateExchange::OnTimeout(StepContext& step, WorkerId worker) {
  const absl::Status status = absl::DeadlineExceededError(absl::StrCat("the fetch ", fetcher_.Describe()));
  if (fetching_.size() == 1) {
    // Nobody here knows who has not reached a boundary.
    if (fetcher_.phase() != StateFetcher::Phase::kNoHolders) return GiveUp(step, status);
    outlet_->TellScheduler(step, FetchEnded{TransferId(), fetch_, false, "its call has timed out"});
    last_word_at_ = step.now + kLastWord;
    fetching_.begin()->second.deadline = kNever;
    return;
  }
  const auto timed_out = fetching_.extract(worker);
  fetcher_.RemoveWorker(worker);
  // The scheduler takes what this node has said for the end of the fetch: the others fetch anew.
  outlet_->TellScheduler(step, FetchEnded{fetcher_.transfer(), fetch_, false, std::string(status.message())});
  ++fetch_;
  if (!FetchAnew(step)) outlet_->TellScheduler(step, StateWanted{fetch_});
  server_.NoteFetched(worker);
  outlet_->CompleteStateCall(step, timed_out.mapped().request, status, 0);
}

void StateExchange::OnDeadline(StepContext& step) {
  fetcher_.OnDeadline(step);
  if (last_word_at_.has_value() && step.now >= *last_word_at_) {
    EndCalls(step, absl::DeadlineExceededError("the fetch waits for nodes to reach a boundary"));
  }
  std::erase_if(queued_, [&](const Queued& wanted) {
    if (step.now < wanted.deadline) return false;
    outlet_->CompleteStateCall(step, wanted.call.request,
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

// ---- outlet of server and fetcher ----

void StateExchange::TellScheduler(StepContext& step, Message message) {
  outlet_->TellScheduler(step, std::move(message));
}

void StateExchange::SendOnRoute(StepContext& step, Message message) {
  if (!IsLocal(*RouteOf(message))) return outlet_->SendOnRoute(step, std::move(message));
  local_.emplace_back(std::move(message), Payload());
}

void StateExchange::SendStateChunk(StepContext& step, ChunkMessage message, Payload payload) {
  if (!IsLocal(message.route)) return outlet_->SendStateChunk(step, std::move(message), std::move(payload));
  local_.emplace_back(std::move(message), std::move(payload));
}

void StateExchange::Ask(StepContext& step, StateTask task) { outlet_->Ask(step, std::move(task)); }

void StateExchange::CompleteStateCall(StepContext& step, RequestId request, absl::Status status, uint64_t boundary) {
  outlet_->CompleteStateCall(step, request, std::move(status), boundary);
}

std::vector<KeysPushed> StateExchange::PushedBy(WorkerId worker) const { return outlet_->PushedBy(worker); }
bool StateExchange::HasMissedNothing(WorkerId worker) const { return outlet_->HasMissedNothing(worker); }
void StateExchange::Abstain(StepContext& step, WorkerId worker) { outlet_->Abstain(step, worker); }

void StateExchange::AbstainUntil(StepContext& step, const std::vector<KeysPushed>& pushed) {
  outlet_->AbstainUntil(step, pushed);
}

void StateExchange::BeginAfter(StepContext& step, WorkerId worker, const std::vector<KeysPushed>& pushed) {
  outlet_->BeginAfter(step, worker, pushed);
}

void StateExchange::BeginAnywhere(StepContext& step, WorkerId worker) { outlet_->BeginAnywhere(step, worker); }

}  // namespace banyan
