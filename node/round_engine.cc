#include "node/round_engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "node/rejection_log.h"

namespace banyan {
namespace {

using Verdict = PeerNetwork::Verdict;

// However small the model, this many chunks may come early.
constexpr int64_t kLeastEarlyChunks = 64;
// Rounds remembered for a grant. Sources try again without one, only later.
constexpr size_t kMostDeniedRounds = 1024;

}  // namespace

RoundEngine::RoundEngine(NodeId self, Incarnation incarnation, const JobConfig& config, PolicyBook* book,
                         PeerNetwork* network, ComputationTable* computations, Listener* listener)
    : self_(self),
      incarnation_(incarnation),
      config_(config),
      book_(book),
      network_(network),
      computations_(computations),
      listener_(listener),
      encodings_(self, config.compression),
      early_(config.early_bytes) {
  // An optimizer's step, or a residual, works on what the step before left.
  if (HasOptimizer() || encodings_.KeepsResiduals()) config_.rounds_in_flight = 1;
  GrowEarlyStore();
}

RoundEngine::KeyState& RoundEngine::KeyOf(KeyId key) {
  return keys_.try_emplace(key, config_.aggregation.op, book_->FindKey(key)->elements).first->second;
}

RoundEngine::RoundState* RoundEngine::FindRound(KeyId key, Round round) {
  auto known = keys_.find(key);
  if (known == keys_.end()) return nullptr;
  auto state = known->second.rounds.find(round);
  return state == known->second.rounds.end() ? nullptr : &state->second;
}

void RoundEngine::GrowEarlyStore() {
  if (config_.early_bytes > 0) return;
  int64_t model_bytes = 0;
  for (const auto& [key, state] : keys_) model_bytes += book_->FindKey(key)->elements * SizeOf(DataType::kFloat32);
  early_.set_capacity_bytes(std::max(model_bytes, KeptBytes(kLeastEarlyChunks, config_.chunk_max_elements)));
}

void RoundEngine::Contribute(StepContext& step, KeyId key, Round round, Contribution contribution) {
  RoundState& state = KeyOf(key).rounds[round];
  BANYAN_CHECK(!state.contribution.has_value());
  state.contribution = std::move(contribution);
  listener_->OnPolicyWanted(step, key, round);
  TryOpen(step, key);
}

RoundEngine::RoundState* RoundEngine::Bound(StepContext& step, KeyId key, Round round) {
  std::optional<PolicyBook::Binding> binding = book_->FindBinding(key, round);
  if (!binding.has_value()) {
    listener_->OnPolicyWanted(step, key, round);
    return nullptr;
  }
  RoundState& state = KeyOf(key).rounds[round];
  if (state.binding.has_value()) return &state;
  state.binding = binding;
  state.chunks.resize(binding->chunks->ChunksOf(key));
  state.unread_results = state.chunks.size();
  for (uint32_t index = 0; index < state.chunks.size(); ++index) {
    state.chunks[index].tree = binding->chunks->TreeOf(key, ChunkIndex(index));
    state.chunks[index].range = binding->chunks->RangeOf(key, ChunkIndex(index));
  }
  return &state;
}

void RoundEngine::TryOpen(StepContext& step, KeyId key) {
  KeyState& state = KeyOf(key);
  for (auto& [round, waiting] : state.rounds) {
    if (waiting.open || !waiting.contribution.has_value()) continue;
    // Round 0 sets what the later rounds work on, so that none of them runs beside it.
    const uint64_t in_flight = state.next_complete == Round(0) ? 1 : config_.rounds_in_flight;
    if (round.value() >= state.next_complete.value() + in_flight) return;
    if (round.value() > state.next_closed.value() + config_.rounds_in_flight) return;
    if (Bound(step, key, round) == nullptr) return;
    Open(step, key, round, waiting);
  }
}

void RoundEngine::Open(StepContext& step, KeyId key, Round round, RoundState& state) {
  state.open = true;
  listener_->OnPolicyWanted(step, key, round.Next());
  KeyState& of_key = KeyOf(key);
  DropOldRounds(of_key);
  for (uint32_t index = 0; index < state.chunks.size(); ++index) {
    ContributeChunk(step, ChunkRef{key, round, ChunkIndex(index)}, state);
  }
}

Verdict RoundEngine::Refuse(StepContext& step, const ChunkMessage& message, const std::string& why) {
  step.rejections.Reject(
      "chunk",
      absl::StrCat("key ", message.id.key.value(), " round ", message.id.round.value(), " chunk ",
                   message.id.chunk.value(), " from ", network_->NameOf(message.route.source()), ": ", why),
      step.actions);
  return Verdict::kRefused;
}

Verdict RoundEngine::KeepEarly(ChunkMessage message, Payload payload) {
  const std::pair<KeyId, Round> round{message.id.key, message.id.round};
  if (early_.Keep(std::move(message), std::move(payload))) return Verdict::kTaken;
  if (denied_.size() < kMostDeniedRounds) denied_.insert(round);
  return Verdict::kNoRoom;
}

bool RoundEngine::TakeDenied() {
  return std::erase_if(denied_, [this](const std::pair<KeyId, Round>& round) {
           return book_->FindBinding(round.first, round.second).has_value();
         }) > 0;
}

bool RoundEngine::IsTooFar(const KeyState& key, Round round) const {
  // Whoever is in this round has completed round - rounds_in_flight, which needed what this node contributed to it.
  return round.value() > key.next_complete.value() + 2 * config_.rounds_in_flight;
}

Verdict RoundEngine::OnChunk(StepContext& step, ChunkMessage message, Payload payload) {
  const KeyId key = message.id.key;
  const Round round = message.id.round;
  if (book_->FindKey(key) == nullptr) return KeepEarly(std::move(message), std::move(payload));
  const KeyState& of_key = KeyOf(key);
  // A late duplicate of a round that is over here: its source only wants to hear that it arrived.
  if (round < of_key.next_closed) return Verdict::kTaken;
  if (IsTooFar(of_key, round)) {
    return Refuse(step, message, absl::StrCat("round ", of_key.next_complete.value(), " is not complete here yet"));
  }
  RoundState* state = Bound(step, key, round);
  if (state == nullptr) return KeepEarly(std::move(message), std::move(payload));
  const std::string fault = FaultOf(message, *state);
  if (!fault.empty()) return Refuse(step, message, fault);
  return message.id.half == Half::kReduce ? OnContribution(step, *state, std::move(message), std::move(payload))
                                          : OnResult(step, *state, std::move(message), std::move(payload));
}

std::string RoundEngine::FaultOf(const ChunkMessage& message, const RoundState& state) const {
  const PolicySlice& slice = *state.binding->slice;
  if (message.id.epoch != slice.epoch || message.id.attempt != state.binding->attempt) {
    return absl::StrCat("epoch ", message.id.epoch.value(), " attempt ", message.id.attempt.value(), " came, expected ",
                        slice.epoch.value(), " and ", state.binding->attempt.value());
  }
  if (message.policy != slice.version) {
    return absl::StrCat("policy ", message.policy.value(), " came, expected ", slice.version.value());
  }
  if (message.id.chunk.value() >= state.chunks.size()) return absl::StrCat("of ", state.chunks.size(), " chunks");
  const ChunkState& chunk = state.chunks[message.id.chunk.value()];
  if (message.tree != chunk.tree) {
    return absl::StrCat("tree ", message.tree.value(), " came, expected ", chunk.tree.value());
  }
  if (message.elements != chunk.range.elements) {
    return absl::StrCat(message.elements, " elements came, expected ", chunk.range.elements);
  }
  if ((message.weight == 0) != message.frames.empty()) {
    return absl::StrCat("weight ", message.weight, " came with ", message.frames.size(), " frames");
  }
  const TreeSlice& tree = TreeOf(state, chunk);
  const NodeId source = message.route.source();
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    if (neighbour.node == source && neighbour.incarnation != message.source_incarnation) {
      return "its source has been started again since";
    }
  }
  if (message.id.half == Half::kBroadcast) return tree.broadcast_parent == source ? "" : "its source is not the parent";
  return std::binary_search(tree.reduce_children.begin(), tree.reduce_children.end(), source)
             ? ""
             : "its source is not a child";
}

void RoundEngine::OnBookChanged(StepContext& step) {
  std::vector<KeyId> keys;
  for (const auto& [key, state] : keys_) keys.push_back(key);
  for (KeyId key : keys) TryOpen(step, key);
  TakeEarly(step);
  GrowEarlyStore();
}

void RoundEngine::TakeEarly(StepContext& step) {
  const int64_t before = early_.size_bytes();
  for (const auto& [key, round] : early_.Rounds()) {
    if (book_->FindKey(key) == nullptr) continue;
    // The key is known only now: what claims to be of an impossible round is for OnChunk to refuse.
    if (!IsTooFar(KeyOf(key), round) && Bound(step, key, round) == nullptr) continue;
    for (EarlyStore::Chunk& chunk : early_.Take(key, round)) {
      OnChunk(step, std::move(chunk.message), std::move(chunk.payload));
    }
  }
  const bool has_policy = TakeDenied();
  if (has_policy || early_.size_bytes() < before) network_->GrantRoom(step);
}

void RoundEngine::DropOldRounds(KeyState& key) {
  while (!key.rounds.empty() && key.rounds.begin()->first < key.next_closed) {
    auto next = std::next(key.rounds.begin());
    if (next == key.rounds.end() || !next->second.open) return;
    key.rounds.erase(key.rounds.begin());
  }
}

void RoundEngine::OnClosedEverywhere(StepContext& step, KeyId key, Round round) {
  RoundState* state = FindRound(key, round);
  if (state == nullptr || !state->complete) return;
  state->closed_everywhere = true;
  state->contribution.reset();
  for (ChunkState& chunk : state->chunks) chunk.result = CheckedChunk();
  KeyState& of_key = KeyOf(key);
  // A later round may close before an earlier one, whose chunks are still wanted.
  for (auto next = of_key.rounds.find(of_key.next_closed);
       next != of_key.rounds.end() && next->second.closed_everywhere; next = of_key.rounds.find(of_key.next_closed)) {
    book_->Forget(key, of_key.next_closed);
    of_key.next_closed = of_key.next_closed.Next();
  }
  DropOldRounds(of_key);
  TryOpen(step, key);
}

bool RoundEngine::IsIdle() const {
  for (const auto& [key, of_key] : keys_) {
    for (const auto& [round, state] : of_key.rounds) {
      if ((state.open || state.contribution.has_value()) && !state.closed_everywhere) return false;
    }
  }
  return true;
}

void RoundEngine::Replay(KeyId key, Round round,
                         const std::function<void(int64_t first_element, const Buffer& values)>& sink) const {
  auto known = keys_.find(key);
  if (known == keys_.end()) return;
  auto state = known->second.rounds.find(round);
  if (state == known->second.rounds.end()) return;
  for (const ChunkState& chunk : state->second.chunks) {
    if (!chunk.values.empty()) sink(chunk.range.first_element, chunk.values);
  }
}

void RoundEngine::Clear() {
  keys_.clear();
  early_.Clear();
  denied_.clear();
}

void RoundEngine::SendTo(StepContext& step, const ChunkRef& ref, const RoundState& state, Half half, NodeId destination,
                         const CheckedChunk& checked) {
  const EncodedChunk& encoded = checked.encoded();
  const ChunkState& chunk = state.chunks[ref.chunk.value()];
  ChunkMessage message;
  message.id = {state.binding->slice->epoch, state.binding->attempt, ref.round, ref.key, ref.chunk, half};
  message.policy = state.binding->slice->version;
  message.tree = chunk.tree;
  message.kind = state.contribution->kind;
  message.source_incarnation = incarnation_;
  message.route.path = PolicyBook::PathTo(*state.binding->slice, self_, destination);
  message.weight = encoded.weight;
  message.priority = state.contribution->priority;
  message.elements = chunk.range.elements;
  message.place = state.binding->chunks->PlaceOf(ref.key, ref.chunk);
  message.frames = encoded.frames;
  if (half == Half::kReduce) message.result_ratio = ResultRatio(ref, state);
  network_->SendChunk(step, std::move(message), encoded.payload);
}

std::vector<NodeReport::Memory> RoundEngine::MemoryReport() const {
  uint64_t contributions = 0, sums = 0, results = 0, replicas = 0, residuals = 0, weights = 0, optimizers = 0;
  for (const auto& [key, of_key] : keys_) {
    replicas += of_key.replica.size_bytes();
    residuals += of_key.residual.size_bytes();
    weights += of_key.weights.size_bytes();
    optimizers += of_key.optimizer.size_bytes();
    for (const auto& [round, state] : of_key.rounds) {
      if (state.contribution.has_value()) contributions += state.contribution->values.size_bytes();
      for (const ChunkState& chunk : state.chunks) {
        sums += chunk.sum.size_bytes();
        results += std::max(chunk.result.payload_bytes(), chunk.values.size_bytes());
      }
    }
  }
  return {{"contributions", contributions},
          {"sums", sums},
          {"results", results},
          {"replicas", replicas},
          {"residuals", residuals},
          {"weights", weights},
          {"optimizer", optimizers},
          {"early", static_cast<uint64_t>(early_.size_bytes())}};
}

}  // namespace banyan
