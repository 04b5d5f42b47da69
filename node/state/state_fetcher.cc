#include "node/state/state_fetcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/digest.h"
#include "node/step_context.h"

namespace banyan {
namespace {

// The slowest memory that holders hash their state in.
constexpr double kHashBytesPerSecond = 5e8;
// A chunk is asked of a second holder when the first takes this many times as long, and that much more.
constexpr double kMuchLater = 2;
constexpr absl::Duration kClearlyLater = absl::Milliseconds(50);

SourceRoute RouteTo(const HolderLink& holder) { return {holder.path(), 0}; }

std::vector<StateRequest::Run> RunsOf(std::vector<ChunkIndex> chunks) {
  std::sort(chunks.begin(), chunks.end());
  std::vector<StateRequest::Run> runs;
  for (ChunkIndex chunk : chunks) {
    if (!runs.empty() && runs.back().last.Next() == chunk) {
      runs.back().last = chunk;
    } else {
      runs.push_back({chunk, chunk});
    }
  }
  return runs;
}

std::string PartAt(const StateShape& shape, int64_t offset) {
  for (const StateShape::Part& part : shape.parts) {
    if (offset < part.size_bytes) return part.name;
    offset -= part.size_bytes;
  }
  return "";
}

}  // namespace

absl::Status StateFetcher::AddWorker(StepContext& step, WorkerId worker, StateShape shape,
                                     std::vector<KeysPushed> replica) {
  if (workers_.empty()) {
    Clear();
    shape_ = std::move(shape);
    replica_ = std::move(replica);
    layout_ = StateLayout(shape_.total_bytes());
    phase_ = Phase::kNoHolders;
  } else if (shape != shape_) {
    return absl::InvalidArgumentError("another worker of this node fetches a state of other parts or sizes");
  }
  workers_.insert(worker);
  former_[worker] = writing_[worker];
  if (phase_ != Phase::kPulling && phase_ != Phase::kComplete) return absl::OkStatus();
  // What has come is not kept here, so it comes again; it does no harm to the workers that have it.
  for (ChunkIndex chunk(0); chunk < next_; chunk = chunk.Next()) {
    if (asked_.count(chunk) == 0) again_.insert(chunk);
  }
  phase_ = Phase::kPulling;
  CompleteIfWhole();
  Fill(step);
  return absl::OkStatus();
}

void StateFetcher::RemoveWorker(WorkerId worker) {
  workers_.erase(worker);
  if (workers_.empty()) return Clear();
  CompleteIfWhole();
}

void StateFetcher::OnWorkerGone(WorkerId worker) {
  writing_.erase(worker);
  former_.erase(worker);
  if (workers_.count(worker) > 0) RemoveWorker(worker);
}

void StateFetcher::Reset() {
  failure_ = absl::OkStatus();
  transfer_ = TransferId();
  holders_.clear();
  hashes_.clear();
  manifest_asked_ = 0;
  next_ = ChunkIndex(0);
  again_.clear();
  asked_.clear();
  wrong_.clear();
  next_tick_ = kNever;
}

void StateFetcher::Restart() {
  Reset();
  phase_ = Phase::kNoHolders;
}

void StateFetcher::Clear() {
  Reset();
  workers_.clear();
  phase_ = Phase::kIdle;
}

void StateFetcher::OnHolders(StepContext& step, const StateHolders& holders) {
  if (phase_ == Phase::kIdle || phase_ == Phase::kFailed) return;
  if (holders.transfer < transfer_) return;
  if (holders.transfer != transfer_) return Begin(step, holders);
  UpdateHolders(holders);
  if (phase_ == Phase::kNoManifest && holders_.count(manifest_from_) == 0) return AskManifest(step);
  Fill(step);
}

void StateFetcher::Begin(StepContext& step, const StateHolders& holders) {
  Reset();
  transfer_ = holders.transfer;
  boundary_ = holders.step;
  pushed_ = holders.pushed;
  phase_ = Phase::kNoManifest;
  progress_at_ = step.now;
  next_tick_ = step.now + settings_.tick;
  UpdateHolders(holders);
  AskManifest(step);
}

void StateFetcher::UpdateHolders(const StateHolders& holders) {
  std::set<NodeId> named;
  for (const std::vector<NodeId>& path : holders.paths) {
    named.insert(path.back());
    holders_.try_emplace(path.back(), path, layout_.chunk_bytes());
  }
  std::vector<NodeId> gone;
  for (const auto& [node, holder] : holders_) {
    if (named.count(node) == 0) gone.push_back(node);
  }
  for (NodeId node : gone) RemoveHolder(node);
  ChooseReserves();
}

void StateFetcher::ChooseReserves() {
  std::set<NodeId> first_hops;
  for (const auto& [node, holder] : holders_) {
    if (holder.path().size() <= 2) first_hops.insert(node);
  }
  for (auto& [node, holder] : holders_) {
    holder.is_reserve = holder.path().size() > 2 && !first_hops.insert(holder.path()[1]).second;
  }
}

void StateFetcher::RemoveHolder(NodeId node) {
  const auto found = holders_.find(node);
  if (found == holders_.end()) return;
  TakeBackFrom(found->second);
  holders_.erase(found);
  ChooseReserves();
}

void StateFetcher::AskManifest(StepContext& step) {
  if (holders_.empty()) return;
  // The next one after the last that was asked.
  auto holder = manifest_asked_ == 0 ? holders_.begin() : holders_.upper_bound(manifest_from_);
  if (holder == holders_.end()) holder = holders_.begin();
  manifest_from_ = holder->first;
  ++manifest_asked_;
  progress_at_ = step.now;
  mail_->Send(StateManifestWanted{RouteTo(holder->second), transfer_, replica_});
}

void StateFetcher::AskAnotherForManifest(StepContext& step) {
  if (holders_.empty() || manifest_asked_ > holders_.size() + 1) {
    return Fail(absl::UnavailableError(absl::StrCat("no holder has said what the state is made of: ", HolderNames())));
  }
  AskManifest(step);
}

absl::Duration StateFetcher::ManifestPatience() const {
  return settings_.stall_after + absl::Seconds(static_cast<double>(layout_.total_bytes()) / kHashBytesPerSecond);
}

absl::Status StateFetcher::CheckShape(const StateShape& came, NodeId holder) const {
  const auto differ = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat("the state of node ", holder.value(), " is another one: ", what));
  };
  const size_t common = std::min(came.parts.size(), shape_.parts.size());
  for (size_t i = 0; i < common; ++i) {
    const StateShape::Part& here = shape_.parts[i];
    const StateShape::Part& there = came.parts[i];
    if (here.name < there.name) return differ(absl::StrCat("it has no part '", here.name, "'"));
    if (there.name < here.name) return differ(absl::StrCat("it has a part '", there.name, "'"));
    if (here.size_bytes != there.size_bytes) {
      return differ(
          absl::StrCat("part '", here.name, "' has ", there.size_bytes, " bytes there and ", here.size_bytes, " here"));
    }
  }
  if (common < shape_.parts.size()) return differ(absl::StrCat("it has no part '", shape_.parts[common].name, "'"));
  if (common < came.parts.size()) return differ(absl::StrCat("it has a part '", came.parts[common].name, "'"));
  return absl::OkStatus();
}

void StateFetcher::OnManifest(StepContext& step, const StateManifest& manifest) {
  if (phase_ != Phase::kNoManifest || manifest.transfer != transfer_) return;
  const NodeId holder = manifest.route.source();
  if (!holders_.contains(holder)) {
    return step.rejections.Reject("manifest of a state from a node that does not hold it",
                                  absl::StrCat("from node ", holder.value()), step.actions);
  }
  if (absl::Status status = CheckShape(manifest.shape, holder); !status.ok()) return Fail(std::move(status));
  manifest_from_ = holder;
  hashes_ = manifest.hashes;
  phase_ = Phase::kPulling;
  progress_at_ = step.now;
  CompleteIfWhole();
  Fill(step);
}

void StateFetcher::OnRefused(StepContext& step, const StateRefused& refused) {
  if (refused.transfer != transfer_ || phase_ == Phase::kFailed) return;
  const NodeId holder = refused.route.source();
  if (holders_.count(holder) == 0) return;
  step.Log(LogLevel::kWarning, absl::StrCat("node ", holder.value(), " gives no state: ", refused.reason));
  RemoveHolder(holder);
  if (phase_ == Phase::kNoManifest && manifest_from_ == holder) {
    // It is asked no more: what counts is how often those were asked who are left.
    --manifest_asked_;
    return AskAnotherForManifest(step);
  }
  Fill(step);
}

// ---- asking ----

void StateFetcher::Fill(StepContext& step) {
  if (phase_ != Phase::kPulling || is_paused_) return;
  for (auto& [node, holder] : holders_) {
    if (!holder.is_reserve && !holder.is_silent) FillFrom(step, holder);
  }
}

void StateFetcher::FillFrom(StepContext& step, HolderLink& holder, size_t most) {
  std::vector<ChunkIndex> chunks;
  while (holder.Room() > 0 && chunks.size() < most) {
    if (HeldBytes() > 0 && HeldBytes() + layout_.chunk_bytes() > kMostBytes) break;
    std::optional<ChunkIndex> chunk = NextChunk(holder);
    if (!chunk.has_value()) chunk = ChunkToSteal(step.now, holder);
    if (!chunk.has_value()) break;
    holder.OnAsked(step.now, *chunk, layout_.SizeOf(*chunk));
    asked_[*chunk].push_back(holder.node());
    chunks.push_back(*chunk);
  }
  if (!chunks.empty()) SendRequest(holder, chunks);
}

std::optional<ChunkIndex> StateFetcher::NextChunk(const HolderLink& holder) {
  for (ChunkIndex chunk : again_) {
    const auto wrong = wrong_.find(chunk);
    if (wrong != wrong_.end() && wrong->second.count(holder.node()) > 0) continue;
    again_.erase(chunk);
    return chunk;
  }
  if (!layout_.Has(next_)) return std::nullopt;
  return std::exchange(next_, next_.Next());
}

std::optional<ChunkIndex> StateFetcher::ChunkToSteal(Timestamp now, const HolderLink& thief) {
  const absl::Duration here = thief.ExpectedWait(now, layout_.chunk_bytes());
  absl::Duration longest = kMuchLater * here + kClearlyLater;
  std::optional<ChunkIndex> best;
  for (const auto& [node, holder] : holders_) {
    if (node == thief.node() || !holder.OwesAny()) continue;
    const absl::Duration there = holder.ExpectedWait(now, 0);
    if (there <= longest) continue;
    // The last one that only this holder owes comes last.
    for (auto owed = holder.owed().rbegin(); owed != holder.owed().rend(); ++owed) {
      const auto asked = asked_.find(owed->first);
      if (asked == asked_.end() || asked->second.size() > 1) continue;
      const auto wrong = wrong_.find(owed->first);
      if (wrong != wrong_.end() && wrong->second.count(thief.node()) > 0) continue;
      longest = there;
      best = owed->first;
      break;
    }
  }
  return best;
}

void StateFetcher::SendRequest(const HolderLink& holder, const std::vector<ChunkIndex>& chunks) {
  attempt_ = attempt_.Next();
  mail_->Send(StateRequest{RouteTo(holder), transfer_, attempt_, RunsOf(chunks), replica_});
}

void StateFetcher::TakeBack(NodeId holder, ChunkIndex chunk) {
  const auto asked = asked_.find(chunk);
  if (asked == asked_.end()) return;
  std::erase(asked->second, holder);
  if (!asked->second.empty()) return;
  asked_.erase(asked);
  again_.insert(chunk);
}

void StateFetcher::TakeBackFrom(HolderLink& holder) {
  for (ChunkIndex chunk : holder.TakeOwed()) TakeBack(holder.node(), chunk);
}

// ---- what comes ----

bool StateFetcher::IsRight(ChunkIndex chunk, const Payload& payload) const {
  if (payload.size() != 1 || payload[0].size_bytes() != layout_.SizeOf(chunk)) return false;
  return DigestBytes(payload[0].AsBytes().bytes(), 0) == hashes_[chunk.value()];
}

bool StateFetcher::OnChunk(StepContext& step, const ChunkMessage& message, const Payload& payload) {
  if (phase_ != Phase::kPulling || TransferOf(message.id) != transfer_) return false;
  const NodeId source = message.route.source();
  const ChunkIndex chunk = message.id.chunk;
  const auto holder = holders_.find(source);
  if (holder != holders_.end()) holder->second.OnArrived(step.now, chunk);
  // Else it is a second copy, or one that nobody asked for.
  const auto asked = asked_.find(chunk);
  const bool is_wanted = asked != asked_.end();
  const bool is_taken = is_wanted && IsRight(chunk, payload);
  if (is_taken) {
    asked_.erase(asked);
    progress_at_ = step.now;
    for (const WorkerId worker : workers_) ++writing_[worker];
  } else if (is_wanted) {
    OnWrong(step, source, chunk);
  }
  Fill(step);
  return is_taken;
}

void StateFetcher::OnWrong(StepContext& step, NodeId source, ChunkIndex chunk) {
  ++wrong_chunks_;
  wrong_[chunk].insert(source);
  const std::string part = PartAt(shape_, layout_.OffsetOf(chunk));
  step.Log(LogLevel::kWarning,
           absl::StrCat("chunk ", chunk.value(), " of the state, of part '", part, "', from node ", source.value(),
                        " is not the one that node ", manifest_from_.value(), " has described"));
  TakeBack(source, chunk);
  const auto holder = holders_.find(source);
  if (holder != holders_.end() && ++holder->second.wrong >= kMostWrong && source != manifest_from_) {
    RemoveHolder(source);
  }
  const bool all_wrong = std::all_of(holders_.begin(), holders_.end(),
                                     [&](const auto& other) { return wrong_[chunk].count(other.first) > 0; });
  if (!all_wrong || asked_.count(chunk) > 0) return;
  Fail(absl::DataLossError(absl::StrCat("no holder of the state gives part '", part, "' as node ",
                                        manifest_from_.value(), " has described it; their replicas differ")));
}

bool StateFetcher::OnWritten(StepContext& step, const WorkerStateWritten& written) {
  // Answers come in order, also to what an earlier fetch has written.
  const auto worker = writing_.find(written.worker);
  if (worker == writing_.end() || worker->second == 0) return true;
  --worker->second;
  uint32_t& former = former_[written.worker];
  const bool is_of_this = former == 0;
  if (!is_of_this) --former;
  if (is_of_this && !written.is_written && workers_.contains(written.worker)) return false;
  if (phase_ != Phase::kPulling) return true;
  progress_at_ = step.now;
  CompleteIfWhole();
  Fill(step);
  return true;
}

bool StateFetcher::IsWhole() const {
  if (layout_.Has(next_) || !again_.empty() || !asked_.empty()) return false;
  return std::all_of(workers_.begin(), workers_.end(), [this](WorkerId worker) {
    const auto writing = writing_.find(worker);
    return writing == writing_.end() || writing->second == 0;
  });
}

void StateFetcher::CompleteIfWhole() {
  if (phase_ != Phase::kPulling || !IsWhole()) return;
  phase_ = Phase::kComplete;
  next_tick_ = kNever;
}

void StateFetcher::Fail(absl::Status status) {
  phase_ = Phase::kFailed;
  failure_ = std::move(status);
  next_tick_ = kNever;
}

// ---- time ----

void StateFetcher::Resume(StepContext& step) {
  is_paused_ = false;
  progress_at_ = step.now;
  if (phase_ == Phase::kNoManifest) return AskManifest(step);
  if (phase_ != Phase::kPulling) return;
  for (auto& [node, holder] : holders_) {
    TakeBackFrom(holder);
    holder.is_silent = false;
  }
  Fill(step);
}

void StateFetcher::OnDeadline(StepContext& step) {
  if (step.now < next_tick_) return;
  next_tick_ = step.now + settings_.tick;
  if (is_paused_) return;
  const absl::Duration quiet = step.now - progress_at_;
  if (phase_ == Phase::kNoManifest) {
    if (quiet > ManifestPatience()) AskAnotherForManifest(step);
    return;
  }
  if (phase_ != Phase::kPulling) return;
  if (quiet > settings_.stall_after) {
    return Fail(absl::UnavailableError(absl::StrCat("nothing of the state has come for ",
                                                    absl::FormatDuration(settings_.stall_after), ": ", Describe())));
  }
  for (auto& [node, holder] : holders_) {
    if (!holder.OwesAny() || step.now - holder.heard_at() <= settings_.stall_after / 2) continue;
    TakeBackFrom(holder);
    holder.is_silent = true;
    // It may be that only the request was lost, with a connection.
    FillFrom(step, holder, 1);
  }
  Fill(step);
}

Timestamp StateFetcher::NextDeadline() const { return next_tick_; }

int64_t StateFetcher::HeldBytes() const {
  size_t chunks = asked_.size();
  for (const auto& [worker, writing] : writing_) chunks += writing;
  return static_cast<int64_t>(chunks) * layout_.chunk_bytes();
}

std::string StateFetcher::HolderNames() const {
  return absl::StrCat("nodes ", absl::StrJoin(holders_, ", ", [](std::string* out, const auto& holder) {
                        absl::StrAppend(out, holder.first.value());
                      }));
}

std::string StateFetcher::Describe() const {
  switch (phase_) {
    case Phase::kNoHolders:
      return "waits for nodes to reach a boundary";
    case Phase::kNoManifest:
      return absl::StrCat("waits for node ", manifest_from_.value(), " to say what the state is made of");
    case Phase::kPulling:
      return absl::StrCat("waits for ", layout_.chunks() - next_.value() + again_.size() + asked_.size(), " of ",
                          layout_.chunks(), " chunks from ", HolderNames());
    case Phase::kIdle:
    case Phase::kComplete:
    case Phase::kFailed:
      break;
  }
  return "waits for no state";
}

}  // namespace banyan
