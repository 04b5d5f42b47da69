#include "node/rounds/reduce_half.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compression/element_types.h"
#include "compression/error_feedback.h"
#include "core/check.h"

namespace banyan {

ReduceHalf::ReduceHalf(const KeySlice* key, Round round, const PolicyTable::Binding& binding, TensorMemory* memory,
                       Tools tools)
    : id_{key->key, round, binding.slice->epoch, binding.attempt},
      key_(key),
      slice_(binding.slice),
      memory_(memory),
      tools_(tools),
      chunks_(binding.chunks->ChunksOf(key->key)),
      assignment_(binding.chunks) {
  for (uint32_t index = 0; index < chunks(); ++index) {
    chunks_[index].tree = binding.chunks->TreeOf(key->key, ChunkIndex(index));
    chunks_[index].range = binding.chunks->RangeOf(key->key, ChunkIndex(index));
    chunks_[index].route = binding.RouteOf(key->key, ChunkIndex(index));
  }
}

ReduceHalf::~ReduceHalf() {
  for (Chunk& chunk : chunks_) {
    chunk.behind.clear();
    TakeInputs(chunk);
  }
}

template <typename Work>
void ReduceHalf::Start(StepContext& step, ChunkIndex chunk, std::unique_ptr<Work> work,
                       void (ReduceHalf::*then)(StepContext&, ChunkIndex, Work&)) {
  tools_.computations->Start<Work>(step, std::move(work),
                                   [owner = tools_.owner, id = id_, chunk, then](StepContext& later, Work& done) {
                                     ReduceHalf* half = owner->FindReduceHalf(later, id);
                                     if (half != nullptr) (half->*then)(later, chunk, done);
                                   });
}

void ReduceHalf::CountChild(StepContext& step, RoundKind kind, ChunkIndex index, NodeId child, double result_ratio,
                            CheckedChunk input, const std::vector<Cut>& cuts) {
  BANYAN_CHECK(At(index).counted.insert(child).second);
  At(index).cuts.insert(At(index).cuts.end(), cuts.begin(), cuts.end());
  At(index).result_ratio = std::min(At(index).result_ratio, result_ratio);
  if (kind != RoundKind::kAbstention) kind_ = kind;
  Count(step, index, child, std::move(input));
}

void ReduceHalf::CountOwn(StepContext& step, RoundKind kind, ChunkIndex index, const Buffer& values, uint32_t weight) {
  BANYAN_CHECK(At(index).counted.insert(tools_.self).second);
  if (kind != RoundKind::kAbstention) kind_ = kind;
  if (values.empty()) return Count(step, index, tools_.self, Nothing(index, weight));
  const ElementRange& range = RangeOf(index);
  Count(step, index, tools_.self, PlainChunk(values.Slice(range.first_element, range.elements), weight));
}

void ReduceHalf::CountOwn(StepContext& step, RoundKind kind, ChunkIndex index, const std::vector<Buffer>& parts,
                          uint32_t weight) {
  if (parts.empty()) return CountOwn(step, kind, index, Buffer(), weight);
  const ElementRange& range = RangeOf(index);
  // All but one are added by the first computation on the chunk; the weight of all comes with that one.
  for (size_t i = 1; i < parts.size() && At(index).state != State::kDone; ++i) {
    At(index).to_add.push_back(PlainChunk(parts[i].Slice(range.first_element, range.elements), 0));
  }
  if (kind != RoundKind::kBroadcast) AddWhatVotesLeft(index);
  CountOwn(step, kind, index, parts.front(), weight);
}

void ReduceHalf::CountOwn(StepContext& step, RoundKind kind, const std::vector<Buffer>& parts, uint32_t weight) {
  std::vector<ChunkIndex> of_votes;
  for (uint32_t index = 0; index < chunks(); ++index) {
    if (!parts.empty() && IsLowBit(chunks_[index].route, kind)) of_votes.push_back(ChunkIndex(index));
  }
  if (!of_votes.empty()) CastVotesOn(step, of_votes, parts);
  for (uint32_t index = 0; index < chunks(); ++index) {
    const bool is_of_votes = std::binary_search(of_votes.begin(), of_votes.end(), ChunkIndex(index));
    if (!is_of_votes) CountOwn(step, kind, ChunkIndex(index), parts, weight);
  }
}

void ReduceHalf::CastVotesOn(StepContext& step, const std::vector<ChunkIndex>& chunks,
                             const std::vector<Buffer>& parts) {
  std::vector<CastVotes::Chunk> votes;
  std::optional<CastVotes::Residuals> residuals;
  if (tools_.votes != nullptr) residuals.emplace();
  for (const ChunkIndex index : chunks) {
    votes.push_back({At(index).range, assignment_->SliceRangeOf(key_->key, index)});
    if (residuals.has_value()) residuals->push_back(memory_->voters().Read(At(index).range));
  }
  Start(step, chunks.front(),
        std::make_unique<CastVotes>(parts, std::move(votes), tools_.low_bit, std::move(residuals)),
        &ReduceHalf::OnVotesCast);
}

void ReduceHalf::AddWhatVotesLeft(ChunkIndex index) {
  Chunk& chunk = At(index);
  if (tools_.votes == nullptr || memory_->voters().empty() || chunk.state == State::kDone) return;
  for (Buffer& residual : memory_->voters().Read(chunk.range)) {
    if (!residual.empty()) chunk.to_add.push_back(PlainChunk(std::move(residual), 0));
  }
  tools_.votes->Keep(index, id_.epoch, {chunk.range, {}});
}

void ReduceHalf::OnVotesCast(StepContext& step, ChunkIndex first, CastVotes& done) {
  kind_ = RoundKind::kAggregate;
  size_t next = 0;
  for (uint32_t index = first.value(); index < chunks(); ++index) {
    Chunk& chunk = chunks_[index];
    if (!IsOfVotes(chunk)) continue;
    BANYAN_CHECK(chunk.counted.insert(tools_.self).second);
    const bool is_open = tools_.votes != nullptr && chunk.state != State::kDone;
    if (is_open) tools_.votes->Keep(ChunkIndex(index), id_.epoch, {chunk.range, std::move(done.cast()[next])});
    Count(step, ChunkIndex(index), tools_.self, done.votes()[next++]);
  }
}

void ReduceHalf::OnVotesAdded(StepContext& step, ChunkIndex index, AddVotes& done) {
  if (At(index).state == State::kDone) return;
  At(index).state = State::kCollecting;
  At(index).votes = done.sum();
  Advance(step, index);
}

void ReduceHalf::FinishVotes(StepContext& step, ChunkIndex index) {
  auto work = std::make_unique<DecideVotesOfChunk>(std::exchange(At(index).votes, CheckedChunk()), tools_.low_bit);
  Start(step, index, std::move(work), &ReduceHalf::OnVotesDecided);
}

void ReduceHalf::OnVotesDecided(StepContext& step, ChunkIndex index, DecideVotesOfChunk& done) {
  if (At(index).state == State::kDone) return;
  tools_.owner->OnResultMade(step, id_, index, done.result());
}

CheckedChunk ReduceHalf::Nothing(ChunkIndex index, uint32_t weight) const {
  return *CheckChunk({{}, {}, weight}, RangeOf(index).elements);
}

void ReduceHalf::Count(StepContext& step, ChunkIndex index, NodeId source, CheckedChunk input) {
  Chunk& chunk = At(index);
  if (chunk.state == State::kDone) return;
  chunk.weight += input.weight();
  if (!input.empty()) {
    if (kind_ != RoundKind::kBroadcast) {
      // This node's own share their memory with its contribution.
      const int64_t waiting_bytes = source == tools_.self ? 0 : input.payload_bytes();
      chunk.waiting_bytes += waiting_bytes;
      *tools_.waiting_bytes += waiting_bytes;
      tools_.fixed_order ? (void)chunk.behind.emplace(source, std::move(input))
                         : chunk.to_add.push_back(std::move(input));
    } else if (chunk.sole.empty()) {
      chunk.sole = std::move(input);
      chunk.sole_source = source;
    } else {
      const NodeId other = source == tools_.self ? chunk.sole_source : source;
      return tools_.owner->OnSumBroken(step, id_, other, "it sent values for a broadcast, and so did another member");
    }
  }
  Order(index);
  Advance(step, index);
}

NodeId ReduceHalf::FirstMissing(ChunkIndex index) const {
  const std::set<NodeId>& counted = chunks_[index.value()].counted;
  NodeId first = counted.contains(tools_.self) ? NodeId(UINT32_MAX) : tools_.self;
  for (const NodeId child : PlaceOf(index).reduce_children) {
    if (!counted.contains(child)) first = std::min(first, child);
  }
  return first;
}

void ReduceHalf::Order(ChunkIndex index) {
  std::map<NodeId, CheckedChunk>& behind = At(index).behind;
  if (behind.empty()) return;
  const auto end = behind.lower_bound(FirstMissing(index));
  for (auto part = behind.begin(); part != end; ++part) At(index).to_add.push_back(std::move(part->second));
  behind.erase(behind.begin(), end);
}

void ReduceHalf::Advance(StepContext& step, ChunkIndex index) {
  Chunk& chunk = At(index);
  if (chunk.state != State::kCollecting) return;
  const TreeSlice& place = PlaceOf(index);
  const bool is_leaf = place.reduce_children.empty() && place.reduce_parent.has_value();
  const bool is_rounded = !Rounds(chunk) || chunk.to_add.empty() || IsPlainArray(chunk.to_add[0], key_->type);
  const bool passes_as_is = is_leaf && !Compresses(chunk) && is_rounded && chunk.to_add.size() <= 1;
  const bool has_all = chunk.counted.size() > place.reduce_children.size();
  if (!chunk.to_add.empty() && !passes_as_is && (has_all || !HoldsOwnAlone(chunk))) return StartAdding(step, index);
  if (!has_all) return;
  if (!place.reduce_parent.has_value()) return Finish(step, index);
  if (FlushesResidualAlone(chunk)) chunk.sum = Buffer::Allocate(chunk.range.elements, SumTypeOf(key_->type));
  if (!chunk.sum.empty() && (Compresses(chunk) || Rounds(chunk))) return StartEncoding(step, index);
  Leave(step, index, TakeUnchanged(index));
}

bool ReduceHalf::FlushesResidualAlone(const Chunk& chunk) {
  return kind_ == RoundKind::kFlush && chunk.sum.empty() && chunk.to_add.empty() && Compresses(chunk) &&
         memory_->sizes().residual_bytes > 0;
}

bool ReduceHalf::HoldsOwnAlone(const Chunk& chunk) {
  return chunk.sum.empty() && chunk.votes.empty() && chunk.to_add.size() == 1 && chunk.waiting_bytes == 0;
}

void ReduceHalf::OnResult(ChunkIndex index) {
  Chunk& chunk = At(index);
  chunk.state = State::kDone;
  chunk.behind.clear();
  TakeInputs(chunk);
  chunk.sum = Buffer();
  chunk.votes = CheckedChunk();
  chunk.sole = CheckedChunk();
}

std::vector<CheckedChunk> ReduceHalf::TakeInputs(Chunk& chunk) {
  int64_t left_bytes = 0;
  for (const auto& [source, input] : chunk.behind) left_bytes += source == tools_.self ? 0 : input.payload_bytes();
  *tools_.waiting_bytes -= std::exchange(chunk.waiting_bytes, left_bytes) - left_bytes;
  return std::exchange(chunk.to_add, {});
}

void ReduceHalf::StartAdding(StepContext& step, ChunkIndex index) {
  Chunk& chunk = At(index);
  chunk.state = State::kAdding;
  if (IsOfVotes(chunk)) {
    std::vector<CheckedChunk> votes = TakeInputs(chunk);
    if (!chunk.votes.empty()) votes.push_back(std::exchange(chunk.votes, CheckedChunk()));
    return Start(step, index, std::make_unique<AddVotes>(std::move(votes)), &ReduceHalf::OnVotesAdded);
  }
  const bool is_fresh = chunk.sum.empty();
  auto work =
      std::make_unique<AccumulateChunk>(std::exchange(chunk.sum, Buffer()), is_fresh, TakeInputs(chunk),
                                        chunk.range.elements, SumTypeOf(key_->type), tools_.computations->device());
  Start(step, index, std::move(work), &ReduceHalf::OnAdded);
}

void ReduceHalf::OnAdded(StepContext& step, ChunkIndex index, AccumulateChunk& done) {
  if (At(index).state == State::kDone) return;
  At(index).state = State::kCollecting;
  At(index).sum = done.accumulator();
  Advance(step, index);
}

CheckedChunk ReduceHalf::TakeUnchanged(ChunkIndex index) {
  Chunk& chunk = At(index);
  if (!chunk.sole.empty()) return std::exchange(chunk.sole, CheckedChunk());
  // A leaf sends its own contribution as it is.
  if (!chunk.to_add.empty()) return TakeInputs(chunk).front();
  if (!chunk.votes.empty()) return std::exchange(chunk.votes, CheckedChunk());
  if (chunk.sum.empty()) return Nothing(index, chunk.weight);
  // From here on the delivery tracker keeps it.
  return PlainChunk(std::exchange(chunk.sum, Buffer()), chunk.weight);
}

void ReduceHalf::Leave(StepContext& step, ChunkIndex index, const CheckedChunk& sum) {
  At(index).state = State::kPassedUp;
  tools_.owner->OnSum(step, id_, index, *PlaceOf(index).reduce_parent, sum, ResultRatio(index));
}

double ReduceHalf::ResultRatio(ChunkIndex index) {
  if (kind_ != RoundKind::kAggregate) return 1;
  return std::min(tools_.encodings->ResultRatio(*key_, PlaceOf(index).broadcast_children), At(index).result_ratio);
}

bool ReduceHalf::Compresses(const Chunk& chunk) const {
  if (IsOfVotes(chunk)) return false;
  switch (kind_) {
    case RoundKind::kAggregate:
      return tools_.encodings->Compresses(*key_);
    case RoundKind::kBroadcast:
    case RoundKind::kAbstention:
      return false;
    case RoundKind::kFlush:
      break;
  }
  return tools_.encodings->KeepsResidual(*key_);
}

void ReduceHalf::KeepResidual(ChunkIndex index, const Buffer& left) {
  if (!left.empty()) tools_.residuals->Keep(index, id_.epoch, RangeOf(index), left);
}

Buffer ReduceHalf::Residual(const Chunk& chunk) {
  return tools_.encodings->KeepsResidual(*key_) ? memory_->Residual(chunk.range) : Buffer();
}

Buffer ReduceHalf::WeightsToPruneBy(StepContext& step, const Chunk& chunk) {
  Buffer weights = memory_->Weights(chunk.range);
  if (weights.empty() && memory_->NoteMissingWeights()) {
    step.Log(LogLevel::kInfo, absl::StrCat("key '", key_->name,
                                           "': no worker has registered its weights, so that NetSenseML's pruning is "
                                           "skipped; see Session::RegisterWeights"));
  }
  return weights;
}

void ReduceHalf::StartEncoding(StepContext& step, ChunkIndex index) {
  Chunk& chunk = At(index);
  chunk.state = State::kEncoding;
  Encoding encoding;
  if (kind_ == RoundKind::kAggregate) {
    encoding = tools_.encodings->ForUplink(*key_, id_.round, index, *PlaceOf(index).reduce_parent);
  }
  Buffer weights = encoding.netsense.prune_factor > 0 ? WeightsToPruneBy(step, chunk) : Buffer();
  auto work = std::make_unique<CompressChunk>(std::exchange(chunk.sum, Buffer()), chunk.weight, encoding,
                                              Residual(chunk), std::move(weights), tools_.computations->device());
  Start(step, index, std::move(work), &ReduceHalf::OnEncoded);
}

void ReduceHalf::OnEncoded(StepContext& step, ChunkIndex index, CompressChunk& done) {
  if (At(index).state == State::kDone) return;
  KeepResidual(index, done.next_residual());
  Leave(step, index, done.encoded());
}

void ReduceHalf::Finish(StepContext& step, ChunkIndex index) {
  Chunk& chunk = At(index);
  chunk.state = State::kFinishing;
  if (kind_ == RoundKind::kAbstention) return tools_.owner->OnNobodySpoke(step, id_, index);
  if (kind_ == RoundKind::kBroadcast) {
    if (chunk.sole.empty()) return NoteMissingValues(step, index);
    return tools_.owner->OnResultMade(step, id_, index, std::exchange(chunk.sole, CheckedChunk()));
  }
  if (!chunk.votes.empty()) return FinishVotes(step, index);
  // No member has put a value in, or those that have are gone after they made a result of another chunk.
  if (chunk.sum.empty()) return FinishSilent(step, index);
  if (chunk.weight == 0 && Compresses(chunk)) {
    // A flush of residuals without any gradient: nothing says by what to divide them, and they wait here.
    AddResidual(Residual(chunk).floats(), chunk.sum.mutable_floats());
    KeepResidual(index, std::exchange(chunk.sum, Buffer()));
    return FinishSilent(step, index);
  }
  FinishChunk::Coding coding;
  if (chunk.weight > 0) {
    coding.residual = Residual(chunk);
    // A result that nobody else gets stays as it is.
    if (kind_ == RoundKind::kAggregate && !PlaceOf(index).broadcast_children.empty()) {
      coding.encoding = tools_.encodings->ForResult(*key_, id_.round, index, ResultRatio(index));
    }
  }
  auto work = std::make_unique<FinishChunk>(std::exchange(chunk.sum, Buffer()), chunk.weight, tools_.op,
                                            std::move(coding), tools_.computations->device());
  Start(step, index, std::move(work), &ReduceHalf::OnFinished);
}

void ReduceHalf::NoteMissingValues(StepContext& step, ChunkIndex index) const {
  if (index != ChunkIndex(0)) return;
  step.Log(LogLevel::kWarning,
           absl::StrCat("key '", key_->name, "' round ", id_.round.value(), ": node ", slice_->source.value(),
                        " sent no values for the broadcast, which waits for another source"));
}

void ReduceHalf::FinishSilent(StepContext& step, ChunkIndex index, const Buffer& values) {
  if (At(index).state != State::kFinishing) return;
  const ElementRange& range = RangeOf(index);
  if (values.empty()) {
    return tools_.owner->OnResultMade(step, id_, index, *CheckChunk(EncodedChunk(), range.elements));
  }
  tools_.owner->OnResultMade(step, id_, index, PlainChunk(values.Slice(range.first_element, range.elements), 1));
}

void ReduceHalf::OnFinished(StepContext& step, ChunkIndex index, FinishChunk& done) {
  if (At(index).state == State::kDone) return;
  KeepResidual(index, done.next_residual());
  tools_.owner->OnResultMade(step, id_, index, done.result());
}

int64_t ReduceHalf::sum_bytes() const {
  int64_t bytes = 0;
  for (const Chunk& chunk : chunks_) bytes += chunk.sum.size_bytes() + chunk.votes.payload_bytes();
  return bytes;
}

}  // namespace banyan
