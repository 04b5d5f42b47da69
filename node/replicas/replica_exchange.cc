#include "node/replicas/replica_exchange.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/digest.h"

namespace banyan {

void ReplicaServer::OnManifestWanted(StepContext& step, const StateManifestWanted& wanted) {
  // A joiner that asks again waits for the last answer alone.
  std::erase_if(manifests_,
                [&](const Manifest& other) { return other.wanted.route.source() == wanted.route.source(); });
  if (manifests_.size() >= kMostManifests) {
    return mail_->Send(StateRefused{Reversed(wanted.route), wanted.transfer, "too many others fetch"});
  }
  manifests_.push_back({step.now, wanted, {}});
  if (manifests_.size() == 1) MakeManifests();
}

void ReplicaServer::MakeManifests() {
  int64_t left = kBytesPerStep;
  while (!manifests_.empty() && left > 0) {
    Manifest& first = manifests_.front();
    SourceRoute back = Reversed(first.wanted.route);
    // Between two steps a round may have come to its end.
    const absl::StatusOr<ReplicaSet> set = ReplicaSet::ToGive(*replicas_, first.wanted.replica);
    if (!set.ok()) {
      mail_->Send(StateRefused{std::move(back), first.wanted.transfer, std::string(set.status().message())});
      manifests_.pop_front();
      continue;
    }
    for (ChunkIndex chunk(first.hashes.size()); left > 0 && set->layout().Has(chunk); chunk = chunk.Next()) {
      first.hashes.push_back(DigestBytes(set->ReadChunk(*replicas_, chunk).bytes(), 0));
      left -= set->layout().SizeOf(chunk);
    }
    if (first.hashes.size() < set->layout().chunks()) return;
    mail_->Send(StateManifest{std::move(back), first.wanted.transfer, set->Shape(), std::move(first.hashes)});
    manifests_.pop_front();
  }
}

void ReplicaServer::OnRequest(StepContext& step, const StateRequest& request) {
  const absl::StatusOr<ReplicaSet> set = ReplicaSet::ToGive(*replicas_, request.replica);
  if (!set.ok()) {
    return mail_->Send(StateRefused{Reversed(request.route), request.transfer, std::string(set.status().message())});
  }
  std::vector<ChunkIndex> chunks;
  for (const StateRequest::Run& run : request.chunks) {
    for (ChunkIndex chunk = run.first; chunk <= run.last; chunk = chunk.Next()) {
      if (!set->layout().Has(chunk) || chunks.size() >= kMostChunks) {
        return step.rejections.Reject("request for chunks of a replica that there are not, or too many",
                                      absl::StrCat("from node ", request.route.source().value()), step.actions);
      }
      chunks.push_back(chunk);
    }
  }
  for (const ChunkIndex chunk : chunks) {
    mail_->SendChunk(StateChunkId(request.transfer, request.attempt, chunk), Reversed(request.route),
                     set->ReadChunk(*replicas_, chunk));
  }
}

ReplicaExchange::ReplicaExchange(Settings settings, Replicas* replicas, StateMail* mail)
    : settings_(settings),
      replicas_(replicas),
      mail_(mail),
      server_(replicas, mail),
      fetcher_({.stall_after = settings.patience}, mail) {}

// ---- the scheduler ----

void ReplicaExchange::AskForPaths(StepContext& step) {
  paths_.clear();
  mail_->to_scheduler.push_back(StateWanted{0, true});
  // It may have no policy yet, or be away.
  try_at_ = step.now + settings_.patience / 4;
}

void ReplicaExchange::OnSchedulerConnected(StepContext& step) {
  const bool is_waiting = !is_changing_ && group_.empty() && !keys_.empty();
  if (is_waiting) AskForPaths(step);
}

void ReplicaExchange::OnHolders(StepContext& step, const StateHolders& holders) {
  paths_ = holders.paths;
  std::erase_if(paths_, [](const std::vector<NodeId>& path) { return path.size() < 2; });
  if (!is_changing_ && group_.empty() && !keys_.empty()) Fetch(step);
}

void ReplicaExchange::OnEpochBegin() {
  is_changing_ = true;
  fetcher_.Pause();
}

void ReplicaExchange::OnEpochPlan(StepContext& step) {
  is_changing_ = false;
  fetcher_.Resume(step);
  fetcher_.Clear();
  group_ = ReplicaSet();
  // The policy may be another one.
  paths_.clear();
  ChooseGroup(step);
}

// ---- one group of keys ----

void ReplicaExchange::ChooseGroup(StepContext& step) {
  keys_.clear();
  failures_ = 0;
  try_at_ = held_until_ = kNever;
  const std::vector<KeyId> lacking = replicas_->Lacking();
  int64_t bytes = 0;
  for (const KeyId key : lacking) {
    bytes += replicas_->ImageBytes(key);
    if (keys_.empty() || bytes <= kGroupBytes) keys_.push_back(key);
    replicas_->Hold(key, false);
  }
  if (keys_.empty()) return;
  paths_.empty() ? AskForPaths(step) : Fetch(step);
  NoteChanged(lacking);
}

void ReplicaExchange::Fetch(StepContext& step) {
  try_at_ = kNever;
  held_until_ = std::min(held_until_, step.now + settings_.patience);
  for (const KeyId key : keys_) replicas_->Hold(key, true);
  group_ = ReplicaSet(*replicas_, keys_);
  image_.assign(group_.total_bytes(), 0);
  transfer_ = TransferId(transfer_.value() + 1);
  fetcher_.Clear();
  if (!fetcher_.AddWorker(step, WorkerId(0), group_.Shape(), group_.Runs()).ok()) return Retry(step);
  StateHolders holders;
  holders.transfer = transfer_;
  holders.paths = paths_;
  fetcher_.OnHolders(step, holders);
  if (paths_.empty()) Retry(step);
}

void ReplicaExchange::OnRoundComplete(StepContext& step) {
  // Others may be there already, and nobody gets further.
  if (!group_.empty() && !is_changing_ && !group_.IsCurrent(*replicas_)) Fetch(step);
}

void ReplicaExchange::Settle(StepContext& step) {
  if (group_.empty() || is_changing_) return;
  if (fetcher_.phase() == StateFetcher::Phase::kComplete) return Finish(step);
  const bool has_nobody = fetcher_.phase() == StateFetcher::Phase::kPulling && !fetcher_.has_holders();
  if (has_nobody || fetcher_.phase() == StateFetcher::Phase::kFailed) Retry(step);
}

void ReplicaExchange::Finish(StepContext& step) {
  const ReplicaSet group = std::exchange(group_, ReplicaSet());
  for (const ReplicaSet::Part& part : group.parts()) {
    replicas_->Take(step, part.key, absl::MakeConstSpan(image_).subspan(part.first_byte, part.size_bytes));
  }
  image_ = {};
  fetcher_.Clear();
  step.Log(LogLevel::kInfo, absl::StrCat("the replicas of ", group.parts().size(), " keys, ", group.total_bytes(),
                                         " bytes, have come from other members"));
  const std::vector<KeyId> keys = std::exchange(keys_, {});
  ChooseGroup(step);
  NoteChanged(keys);
}

void ReplicaExchange::Retry(StepContext& step) {
  if (failures_ == 0) {
    step.Log(LogLevel::kInfo, absl::StrCat("no member has given its parameters yet: ", fetcher_.failure().message()));
  }
  group_ = ReplicaSet();
  fetcher_.Clear();
  if (++failures_ >= kMostFailures) return Release(step);
  try_at_ = step.now + settings_.retry;
}

void ReplicaExchange::Release(StepContext& step) {
  step.Log(LogLevel::kWarning, absl::StrCat("no member has given its parameters; the next try is in ",
                                            absl::FormatDuration(settings_.patience)));
  group_ = ReplicaSet();
  fetcher_.Clear();
  held_until_ = kNever;
  paths_.clear();
  for (const KeyId key : keys_) replicas_->Hold(key, false);
  const std::vector<KeyId> keys = std::exchange(keys_, {});
  try_at_ = step.now + settings_.patience;
  NoteChanged(keys);
}

// ---- other nodes ----

void ReplicaExchange::OnPeerMessage(StepContext& step, const Message& message, const Payload& payload) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&message)) {
    // What comes is progress: whoever waits for it waits for its end.
    if (!group_.empty()) held_until_ = step.now + settings_.patience;
    if (fetcher_.OnChunk(step, *chunk, payload)) {
      const absl::Span<const uint8_t> bytes = payload[0].AsBytes().bytes();
      std::memcpy(image_.data() + group_.layout().OffsetOf(chunk->id.chunk), bytes.data(), bytes.size());
      (void)fetcher_.OnWritten(step, {WorkerId(0), chunk->id.chunk, true});
    }
  } else {
    HandStateMessage(step, message, server_, fetcher_);
  }
  Settle(step);
}

// ---- time ----

void ReplicaExchange::OnDeadline(StepContext& step) {
  server_.OnDeadline(step);
  fetcher_.OnDeadline(step);
  Settle(step);
  if (is_changing_) return;
  if (step.now >= held_until_) return Release(step);
  if (step.now < try_at_) return;
  keys_.empty() ? ChooseGroup(step) : AskForPaths(step);
}

Timestamp ReplicaExchange::NextDeadline() const {
  const Timestamp own = std::min(server_.NextDeadline(), fetcher_.NextDeadline());
  return is_changing_ ? own : std::min({own, held_until_, try_at_});
}

void ReplicaExchange::Clear() {
  server_.Clear();
  fetcher_.Clear();
  group_ = ReplicaSet();
  image_ = {};
  keys_.clear();
  held_until_ = try_at_ = kNever;
}

}  // namespace banyan
