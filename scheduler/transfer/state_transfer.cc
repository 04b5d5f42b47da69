#include "scheduler/transfer/state_transfer.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

// Transfers of one start of the scheduler; those of the next have higher numbers.
constexpr uint64_t kTransfersOfTerm = uint64_t{1} << 32;

}  // namespace

// ---- joiners ----

StateTransfer::Outcome StateTransfer::OnWanted(NodeId node, const StateWanted& wanted) {
  if (phase_ == Phase::kIdle) {
    Begin({{node, wanted.fetch}});
    return Take();
  }
  const auto known = joiners_.find(node);
  const bool is_known = known != joiners_.end() && known->second.fetch == wanted.fetch;
  const bool is_early = std::none_of(joiners_.begin(), joiners_.end(), [](auto& j) { return j.second.has_state; });
  if (is_known && phase_ != Phase::kEnding) {
    // It has lost what it had, or the answer.
    known->second.has_state = false;
    if (phase_ == Phase::kServing) SendHolders(node);
  } else if (phase_ != Phase::kEnding && is_early) {
    AddJoiner(node, wanted.fetch);
  } else {
    joiners_.erase(node);
    queued_[node] = wanted.fetch;
  }
  Advance();
  return Take();
}

void StateTransfer::Begin(std::map<NodeId, uint64_t> joiners) {
  const uint64_t before = std::max(transfer_.value(), settings_.term.value() * kTransfersOfTerm);
  transfer_ = TransferId(before + 1);
  phase_ = Phase::kCollecting;
  for (const auto& [member, incarnation] : members_) awaited_.insert(member);
  serve_at_ = kNever;
  had_holder_ = false;
  for (const auto& [node, fetch] : joiners) joiners_[node] = {fetch, false};
  outcome_.log.push_back(absl::StrCat(JoinerNames(), " asks for the state of the others: they wait at a boundary"));
  for (const auto& [member, incarnation] : members_) {
    Send(member, StateSought{settings_.term, transfer_, absl::StrCat(JoinerNames(), " fetches the state")});
  }
  Advance();
}

void StateTransfer::AddJoiner(NodeId node, uint64_t fetch) {
  joiners_[node] = {fetch, false};
  if (phase_ == Phase::kServing) SendHolders(node);
}

StateTransfer::Outcome StateTransfer::OnFetchEnded(NodeId node, const FetchEnded& ended) {
  const auto joiner = joiners_.find(node);
  if (joiner == joiners_.end() || joiner->second.fetch != ended.fetch) {
    const auto last = last_joiners_.find(node);
    const bool was_told = last != last_joiners_.end() && last->second == ended.fetch;
    if (was_told && ended.has_state) {
      Send(node, StateReleased{settings_.term, ended.transfer, ended.fetch, absl::StatusCode::kOk, ""});
    } else {
      if (queued_.count(node) > 0 && queued_.at(node) == ended.fetch) queued_.erase(node);
      Refuse(node, ended.fetch, absl::StatusCode::kUnavailable,
             absl::StrCat("it waited for the fetch of ", JoinerNames(), " to end"));
    }
    return Take();
  }
  if (ended.has_state) {
    joiner->second.has_state = ended.transfer == transfer_ && phase_ != Phase::kCollecting;
  } else {
    outcome_.log.push_back(
        absl::StrCat(surroundings_.name_of(node), " has not got the state: ", ended.reason, "; it ", Awaited()));
    Refuse(node, ended.fetch, absl::StatusCode::kUnavailable, absl::StrCat("the fetch ", Awaited()));
    joiners_.erase(joiner);
  }
  Advance();
  return Take();
}

void StateTransfer::Refuse(NodeId node, uint64_t fetch, absl::StatusCode code, std::string reason) {
  Send(node, StateReleased{settings_.term, transfer_, fetch, code, std::move(reason)});
}

void StateTransfer::RefuseAll(absl::StatusCode code, const std::string& reason) {
  for (const auto& [node, joiner] : std::exchange(joiners_, {})) Refuse(node, joiner.fetch, code, reason);
}

// ---- holders ----

StateTransfer::Outcome StateTransfer::OnHeld(Timestamp now, NodeId node, const BoundaryHeld& held) {
  if (held.transfer != transfer_ || phase_ == Phase::kIdle) {
    // Its release has been lost.
    if (held.transfer <= transfer_) {
      Send(node, StateReleased{settings_.term, held.transfer, 0, absl::StatusCode::kOk, ""});
    }
    return Take();
  }
  awaited_.erase(node);
  had_holder_ = true;
  if (phase_ == Phase::kEnding) return Take();
  if (holders_.empty() && phase_ == Phase::kCollecting) {
    step_ = held.step;
    pushed_ = held.pushed;
  }
  if (held.step != step_ || held.pushed != pushed_) {
    outcome_.log.push_back(absl::StrCat(surroundings_.name_of(node), " waits at boundary ", held.step,
                                        ", others at boundary ", step_,
                                        ": their states differ, and its own is not given to joiners"));
  } else if (holders_.insert(node).second) {
    serve_at_ = now + settings_.quiet;
    if (phase_ == Phase::kServing) SendAllHolders();
  }
  Advance();
  return Take();
}

StateTransfer::Outcome StateTransfer::OnNoState(NodeId node, const NoState& none) {
  if (none.transfer != transfer_) return Take();
  awaited_.erase(node);
  // That it was held may not have been heard.
  had_holder_ = had_holder_ || none.had_state;
  if (holders_.erase(node) > 0 && phase_ == Phase::kServing && !holders_.empty()) SendAllHolders();
  Advance();
  return Take();
}

void StateTransfer::Serve() {
  phase_ = Phase::kServing;
  SendAllHolders();
}

void StateTransfer::SendAllHolders() {
  std::vector<NodeId> joiners;
  for (const auto& [node, joiner] : joiners_) joiners.push_back(node);
  for (NodeId node : joiners) SendHolders(node);
}

void StateTransfer::SendHolders(NodeId node) {
  const std::map<NodeId, std::vector<NodeId>> paths = surroundings_.paths_from(node);
  StateHolders holders{settings_.term, transfer_, joiners_.at(node).fetch, step_, pushed_, {}};
  for (NodeId holder : holders_) {
    const auto path = paths.find(holder);
    if (path != paths.end()) holders.paths.push_back(path->second);
  }
  if (!holders.paths.empty()) return Send(node, std::move(holders));
  Refuse(node, joiners_.at(node).fetch, absl::StatusCode::kUnavailable,
         absl::StrCat("no connection leads to the nodes that have the state: ", NamesOf(holders_)));
  joiners_.erase(node);
}

// ---- phases ----

void StateTransfer::Advance() {
  if (phase_ == Phase::kCollecting) AdvanceCollecting();
  if (phase_ == Phase::kServing && holders_.empty()) {
    RefuseAll(absl::StatusCode::kUnavailable, "no worker holds the state any more; fetch it again");
  }
  if (phase_ == Phase::kCollecting || phase_ == Phase::kServing) {
    if (joiners_.empty()) return Release();
    const bool all_have = std::all_of(joiners_.begin(), joiners_.end(), [](auto& j) { return j.second.has_state; });
    if (!all_have) return;
    phase_ = Phase::kEnding;
    outcome_.log.push_back(absl::StrCat(JoinerNames(), " has the state after step ", step_, " and takes part"));
    outcome_.begins_epoch = true;
  }
}

void StateTransfer::AdvanceCollecting() {
  if (joiners_.empty() || !awaited_.empty()) return;
  if (!holders_.empty()) return Serve();
  if (had_holder_)
    return RefuseAll(absl::StatusCode::kUnavailable, "the worker that held the state has left; fetch it again");
  const std::string progress = surroundings_.progress();
  if (progress.empty()) return RefuseAll(absl::StatusCode::kNotFound, "no worker of the job has a state to give");
  RefuseAll(absl::StatusCode::kDataLoss,
            absl::StrCat(progress,
                         ", and no worker that is left gives that state: those that had it are gone, or do not "
                         "share it; stop the job (banyan stop), and begin another one, from a "
                         "checkpoint if there is one (banyan scheduler --another)"));
}

StateTransfer::Outcome StateTransfer::OnDeadline(Timestamp now) {
  if (now >= NextDeadline()) {
    Serve();
    Advance();
  }
  return Take();
}

StateTransfer::Outcome StateTransfer::OnEpochPlanned() {
  if (phase_ == Phase::kEnding) Release();
  return Take();
}

void StateTransfer::Release() {
  last_joiners_.clear();
  for (const auto& [node, joiner] : joiners_) last_joiners_[node] = joiner.fetch;
  for (const auto& [member, incarnation] : members_) Release(member);
  phase_ = Phase::kIdle;
  joiners_.clear();
  holders_.clear();
  awaited_.clear();
  serve_at_ = kNever;
  if (!queued_.empty()) Begin(std::exchange(queued_, {}));
}

void StateTransfer::Release(NodeId node) {
  const auto ended = last_joiners_.find(node);
  const uint64_t fetch = ended == last_joiners_.end() ? 0 : ended->second;
  Send(node, StateReleased{settings_.term, transfer_, fetch, absl::StatusCode::kOk, ""});
}

// ---- members ----

StateTransfer::Outcome StateTransfer::SetMembers(const Members& members) {
  const bool had_holders = !holders_.empty();
  bool has_lost_holder = false;
  for (const auto& [gone, incarnation] : std::exchange(members_, members)) {
    const auto now = members_.find(gone);
    if (now != members_.end() && now->second == incarnation) continue;
    last_joiners_.erase(gone);
    joiners_.erase(gone);
    queued_.erase(gone);
    awaited_.erase(gone);
    if (holders_.erase(gone) > 0) has_lost_holder = true;
  }
  if (phase_ == Phase::kServing && had_holders && has_lost_holder && !holders_.empty()) SendAllHolders();
  if (phase_ != Phase::kIdle) Advance();
  return Take();
}

StateTransfer::Outcome StateTransfer::OnRejoined(NodeId node) {
  if (phase_ == Phase::kIdle) {
    if (transfer_ != TransferId()) Release(node);
    return Take();
  }
  Send(node, StateSought{settings_.term, transfer_, absl::StrCat(JoinerNames(), " fetches the state")});
  if (phase_ == Phase::kServing && joiners_.count(node) > 0) SendHolders(node);
  return Take();
}

// ---- words ----

std::string StateTransfer::NamesOf(const std::set<NodeId>& nodes) const {
  return absl::StrJoin(nodes, ", ",
                       [this](std::string* out, NodeId node) { out->append(surroundings_.name_of(node)); });
}

std::string StateTransfer::JoinerNames() const {
  std::set<NodeId> nodes;
  for (const auto& [node, joiner] : joiners_) nodes.insert(node);
  return NamesOf(nodes);
}

std::string StateTransfer::Awaited() const {
  switch (phase_) {
    case Phase::kCollecting:
      return absl::StrCat("waits for these to reach a boundary: ", NamesOf(awaited_));
    case Phase::kServing:
      return absl::StrCat("takes the state after step ", step_, " from ", NamesOf(holders_));
    case Phase::kEnding:
      return "waits for the epoch in which it takes part";
    case Phase::kIdle:
      break;
  }
  return "waits for no node";
}

std::string StateTransfer::Describe() const {
  return phase_ == Phase::kIdle ? "" : absl::StrCat(JoinerNames(), " ", Awaited());
}

}  // namespace banyan
