#include "node/state/state_server.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "node/step_context.h"

namespace banyan {
namespace {

constexpr char kWentOn[] = "the scheduler was silent, and its workers went on";

}  // namespace

absl::Status StateServer::Share(WorkerId worker, StateShape shape) {
  for (const auto& [other, known] : shapes_) {
    if (other == worker || known == shape) continue;
    return absl::InvalidArgumentError(absl::StrCat("the state of worker ", worker.value(),
                                                   " has other parts, or sizes, than that of worker ", other.value(),
                                                   "; all workers share the same"));
  }
  shapes_[worker] = std::move(shape);
  return absl::OkStatus();
}

const StateShape* StateServer::ShapeOf(WorkerId worker) const {
  const auto found = shapes_.find(worker);
  return found == shapes_.end() ? nullptr : &found->second;
}

bool StateServer::CanStillHold() const {
  return std::any_of(shapes_.begin(), shapes_.end(), [this](const auto& shared) {
    return fetching_.count(shared.first) == 0 && workers_->HasState(shared.first);
  });
}

bool StateServer::MayYetShare() const {
  const std::vector<WorkerId> beginners = workers_->Beginners();
  return std::any_of(beginners.begin(), beginners.end(),
                     [this](WorkerId worker) { return !shapes_.contains(worker) && !share_nothing_.contains(worker); });
}

void StateServer::NoteFetching(WorkerId worker) {
  fetching_.insert(worker);
  if (transfer_.has_value() && !giver_.has_value() && !CanStillHold()) Tell();
}

void StateServer::Tell() {
  if (giver_.has_value()) {
    return mail_->to_scheduler.push_back(BoundaryHeld{*transfer_, boundary_, workers_->PushedBy(*giver_)});
  }
  is_undecided_ = !CanStillHold() && MayYetShare();
  if (CanStillHold() || is_undecided_) return;
  mail_->to_scheduler.push_back(NoState{*transfer_, "none of its workers has a state to give"});
}

void StateServer::OnSought(StepContext& step, const StateSought& sought) {
  if (transfer_.has_value() && sought.transfer < *transfer_) return;
  // Its workers are at a later boundary.
  if (sought.transfer <= given_up_) {
    return mail_->to_scheduler.push_back(NoState{sought.transfer, kWentOn, true});
  }
  if (transfer_ != sought.transfer) {
    DropTransfer();
    transfer_ = sought.transfer;
    GiveTask(step, HoldWorkers{true});
    ChooseGiver(std::nullopt);
  }
  Tell();
}

void StateServer::OnBoundary(StepContext& step, const WorkerPassBoundary& call) {
  if (!workers_->HasState(call.worker)) {
    const absl::Status status = absl::FailedPreconditionError("the worker has no training state: fetch it first");
    return CompleteStateCall(step, call.request, status, call.step);
  }
  fetching_.erase(call.worker);
  if (!transfer_.has_value() || ShapeOf(call.worker) == nullptr) {
    return CompleteStateCall(step, call.request, absl::OkStatus(), call.step);
  }
  waiting_[call.worker] = {call.request, call.step};
  if (giver_.has_value()) return;
  ChooseGiver(std::nullopt);
  Tell();
}

void StateServer::ChooseGiver(std::optional<uint64_t> boundary) {
  for (const auto& [worker, waiting] : waiting_) {
    if (giver_.has_value() || (boundary.has_value() && waiting.step != *boundary)) continue;
    giver_ = worker;
    boundary_ = waiting.step;
  }
}

void StateServer::Read(StepContext& step, std::optional<ChunkIndex> chunk) {
  ++owed_[*giver_];
  GiveTask(step, ReadState{*giver_, chunk});
}

void StateServer::DropGiver() {
  if (!giver_.has_value()) return;
  stale_[*giver_] = owed_[*giver_];
  giver_.reset();
}

void StateServer::OnLeave(StepContext& step, WorkerId worker) {
  const auto left = waiting_.extract(worker);
  if (left.empty()) return;
  CompleteStateCall(step, left.mapped().request, absl::CancelledError("the worker waits at its boundary no longer"),
                    left.mapped().step);
  if (giver_ == worker) ReplaceGiver(step, absl::StrCat("worker ", worker.value(), " has left its boundary"));
}

void StateServer::OnWorkerGone(StepContext& step, WorkerId worker) {
  shapes_.erase(worker);
  share_nothing_.erase(worker);
  fetching_.erase(worker);
  const auto left = waiting_.extract(worker);
  if (!left.empty()) {
    CompleteStateCall(step, left.mapped().request, absl::UnavailableError("the worker has gone"), left.mapped().step);
  }
  if (giver_ == worker) {
    ReplaceGiver(step, absl::StrCat("worker ", worker.value(), " has gone"));
  } else if (transfer_.has_value() && !giver_.has_value()) {
    Tell();
  }
  owed_.erase(worker);
  stale_.erase(worker);
}

void StateServer::ReplaceGiver(StepContext& step, const std::string& reason) {
  DropGiver();
  is_hashing_ = false;
  ChooseGiver(boundary_);
  if (giver_.has_value()) {
    is_hashing_ = !want_manifest_.empty();
    if (is_hashing_) Read(step, std::nullopt);
    unread_.insert(unread_.begin(), reading_.begin(), reading_.end());
    reading_.clear();
    return ReadMore(step);
  }
  mail_->to_scheduler.push_back(NoState{*transfer_, reason, true});
  // Each joiner once, whatever it has asked for.
  std::map<NodeId, SourceRoute> joiners;
  for (SourceRoute& route : want_manifest_) joiners.emplace(route.destination(), route);
  for (const auto& [chunk, all] : asked_) {
    for (const Asked& asked : all) joiners.emplace(asked.route.destination(), asked.route);
  }
  for (auto& [joiner, route] : joiners) Refuse(std::move(route), *transfer_, reason);
  want_manifest_.clear();
  asked_.clear();
  unread_.clear();
  reading_.clear();
  hashes_.clear();
}

void StateServer::Refuse(SourceRoute back, TransferId transfer, const std::string& reason) {
  mail_->Send(StateRefused{std::move(back), transfer, reason});
}

void StateServer::OnReleased(StepContext& step, TransferId transfer) {
  if (!transfer_.has_value() || transfer < *transfer_) return;
  ReleaseAll(step);
}

void StateServer::ReleaseAll(StepContext& step) {
  if (!transfer_.has_value()) return;
  DropTransfer();
  GiveTask(step, HoldWorkers{false});
  for (const auto& [worker, waiting] : std::exchange(waiting_, {})) {
    CompleteStateCall(step, waiting.request, absl::OkStatus(), waiting.step);
  }
}

void StateServer::OnSchedulerSilent(StepContext& step) {
  if (!giver_.has_value()) return;
  given_up_ = *transfer_;
  mail_->to_scheduler.push_back(NoState{given_up_, kWentOn, true});
  ReleaseAll(step);
}

// Workers that wait at a boundary stay there: the transfer that comes next takes it.
void StateServer::DropTransfer() {
  DropGiver();
  transfer_.reset();
  is_hashing_ = false;
  hashes_.clear();
  want_manifest_.clear();
  asked_.clear();
  unread_.clear();
  reading_.clear();
}

void StateServer::FailAll(StepContext& step, const absl::Status& status) {
  for (const auto& [worker, waiting] : std::exchange(waiting_, {})) {
    CompleteStateCall(step, waiting.request, status, waiting.step);
  }
  DropTransfer();
}

std::string StateServer::Obstacle(TransferId transfer) const {
  if (transfer_ != transfer) {
    return absl::StrCat("its workers are not held for transfer ", transfer.value());
  }
  return giver_.has_value() ? "" : "none of its workers is held at a boundary";
}

void StateServer::OnManifestWanted(StepContext& step, const StateManifestWanted& wanted) {
  SourceRoute back = Reversed(wanted.route);
  const std::string obstacle = Obstacle(wanted.transfer);
  if (!obstacle.empty()) return Refuse(std::move(back), wanted.transfer, obstacle);
  if (!hashes_.empty()) return SendManifest(std::move(back));
  std::erase_if(want_manifest_, [&](const SourceRoute& one) { return one.destination() == back.destination(); });
  if (want_manifest_.size() >= kMostJoiners) {
    return step.rejections.Reject("request for what a state is made of from too many nodes",
                                  absl::StrCat("from node ", back.destination().value()), step.actions);
  }
  want_manifest_.push_back(std::move(back));
  if (!std::exchange(is_hashing_, true)) Read(step, std::nullopt);
}

void StateServer::SendManifest(SourceRoute back) {
  mail_->Send(StateManifest{std::move(back), *transfer_, shapes_.at(*giver_), hashes_});
}

void StateServer::OnRequest(StepContext& step, const StateRequest& request) {
  SourceRoute back = Reversed(request.route);
  const std::string obstacle = Obstacle(request.transfer);
  if (!obstacle.empty()) return Refuse(std::move(back), request.transfer, obstacle);
  const StateLayout layout(shapes_.at(*giver_).total_bytes());
  for (const StateRequest::Run& run : request.chunks) {
    for (ChunkIndex chunk = run.first; chunk <= run.last; chunk = chunk.Next()) {
      const auto known = asked_.find(chunk);
      const bool is_full = known == asked_.end() ? asked_.size() >= kMostAsked : known->second.size() >= kMostJoiners;
      if (!layout.Has(chunk) || is_full) {
        return step.rejections.Reject("request for chunks of the state that there are not, or too many",
                                      absl::StrCat("from node ", back.destination().value()), step.actions);
      }
      if (known == asked_.end()) unread_.push_back(chunk);
      std::vector<Asked>& asked = asked_[chunk];
      const auto again = std::find_if(asked.begin(), asked.end(),
                                      [&](const Asked& one) { return one.route.destination() == back.destination(); });
      if (again == asked.end()) {
        asked.push_back({back, request.attempt});
      } else {
        *again = {back, request.attempt};
      }
    }
  }
  ReadMore(step);
}

void StateServer::ReadMore(StepContext& step) {
  while (giver_.has_value() && !unread_.empty() && reading_.size() < kMostReads) {
    const ChunkIndex chunk = unread_.front();
    unread_.pop_front();
    reading_.insert(chunk);
    Read(step, chunk);
  }
}

void StateServer::OnRead(StepContext& step, const WorkerStateRead& read) {
  if (size_t& owed = owed_[read.worker]; owed > 0) --owed;
  if (size_t& stale = stale_[read.worker]; stale > 0) {
    --stale;
    return;
  }
  if (read.worker != giver_) return;
  if (read.bytes.empty()) return OnLeave(step, read.worker);
  if (!read.chunk.has_value()) {
    is_hashing_ = false;
    const absl::Span<const uint8_t> bytes = read.bytes.bytes();
    hashes_.resize(StateLayout(shapes_.at(*giver_).total_bytes()).chunks());
    std::memcpy(hashes_.data(), bytes.data(), std::min(bytes.size(), hashes_.size() * sizeof(uint64_t)));
    for (SourceRoute& back : std::exchange(want_manifest_, {})) SendManifest(std::move(back));
    return;
  }
  if (reading_.erase(*read.chunk) == 0) return;
  const auto asked = asked_.extract(*read.chunk);
  for (const Asked& one : asked.mapped()) {
    mail_->SendChunk(StateChunkId(*transfer_, one.attempt, *read.chunk), one.route, read.bytes);
  }
  ReadMore(step);
}

}  // namespace banyan
