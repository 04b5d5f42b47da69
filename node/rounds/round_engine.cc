#include "node/rounds/round_engine.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "node/chunk_size.h"
#include "node/rejection_log.h"
#include "node/rounds/chunk_computations.h"

namespace banyan {
namespace {

using Verdict = PeerNetwork::Verdict;

// However small the model, this many chunks may come early.
constexpr int64_t kLeastEarlyChunks = 64;
// Refusals of one round that are told apart.
constexpr size_t kMostRefusals = 64;
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
  if (IsOptimizer(config_.aggregation.op) || encodings_.KeepsResiduals()) config_.rounds_in_flight = 1;
  GrowEarlyStore(0);
}

RoundEngine::KeyState& RoundEngine::KeyOf(KeyId key) {
  auto known = keys_.find(key);
  if (known != keys_.end()) return known->second;
  const int64_t elements = book_->FindKey(key)->elements;
  GrowEarlyStore(elements * SizeOf(DataType::kFloat32));
  TensorMemory memory(config_.aggregation, elements);
  return keys_.emplace(key, KeyState{std::move(memory), {}}).first->second;
}

RoundState* RoundEngine::FindRound(KeyId key, Round round) {
  auto known = keys_.find(key);
  return known == keys_.end() ? nullptr : known->second.rounds.Find(round);
}

void RoundEngine::GrowEarlyStore(int64_t grown_bytes) {
  model_bytes_ += grown_bytes;
  if (config_.early_bytes > 0) return;
  early_.set_capacity_bytes(std::max(model_bytes_, KeptBytes(kLeastEarlyChunks, config_.chunk_max_elements)));
}

void RoundEngine::Contribute(StepContext& step, KeyId key, Round round, Contribution contribution) {
  RoundState& state = KeyOf(key).rounds.FindOrAdd(round);
  BANYAN_CHECK(!state.contribution.has_value());
  state.contribution = std::move(contribution);
  listener_->OnPolicyWanted(step, key, round);
  TryOpen(step, key);
}

RoundState* RoundEngine::Bound(StepContext& step, KeyId key, Round round) {
  std::optional<PolicyBook::Binding> binding = book_->FindBinding(key, round);
  if (!binding.has_value()) {
    listener_->OnPolicyWanted(step, key, round);
    return nullptr;
  }
  KeyState& of_key = KeyOf(key);
  RoundState& state = of_key.rounds.FindOrAdd(round);
  if (state.binding.has_value()) return &state;
  state.binding = binding;
  const ReduceHalf::Tools tools{self_, config_.aggregation.op, &encodings_, computations_, this};
  state.attempt.emplace(book_->FindKey(key), round, *binding, &of_key.memory, tools);
  BroadcastHalf::Owner* const owner = this;
  state.results.emplace(key, round, *binding, &of_key.memory, computations_, owner);
  return &state;
}

void RoundEngine::TryOpen(StepContext& step, KeyId key) {
  KeyRounds& rounds = KeyOf(key).rounds;
  for (auto& [round, waiting] : rounds.all()) {
    if (waiting.open || !waiting.contribution.has_value()) continue;
    if (!rounds.HasRoomFor(round, config_.rounds_in_flight)) return;
    if (Bound(step, key, round) == nullptr) return;
    Open(step, key, round, waiting);
  }
}

void RoundEngine::Open(StepContext& step, KeyId key, Round round, RoundState& state) {
  state.open = true;
  listener_->OnPolicyWanted(step, key, round.Next());
  KeyOf(key).rounds.DropOld();
  const Contribution& own = *state.contribution;
  for (uint32_t index = 0; index < state.attempt->chunks(); ++index) {
    if (!AgreesOnKind(step, key, round, state, own.kind, self_)) continue;
    state.attempt->CountOwn(step, own.kind, ChunkIndex(index), own.values, own.weight);
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

Verdict RoundEngine::Refuse(StepContext& step, RoundState& state, const ChunkMessage& message, const std::string& why) {
  const NodeId source = message.route.source();
  const std::string what = absl::StrCat("its ", message.id.half == Half::kReduce ? "contribution to" : "result of",
                                        " chunk ", message.id.chunk.value(), " is refused: ", why);
  const bool is_first = state.refusals.size() < kMostRefusals && state.refusals.emplace(source, what).second;
  if (!is_first) listener_->OnRoundBroken(step, message.id.key, message.id.round, source, what);
  return Refuse(step, message, why);
}

Verdict RoundEngine::KeepEarly(StepContext& step, ChunkMessage message, Payload payload) {
  const std::pair<KeyId, Round> round{message.id.key, message.id.round};
  if (!early_.HasRoomFor(message, payload)) {
    // The scheduler tells all nodes of a key at once, and a node without the scheduler fails before this.
    const Timestamp before = step.now + -2 * config_.lost_after;
    const size_t dropped = early_.DropUnknown([this](KeyId key) { return book_->FindKey(key) != nullptr; }, before);
    if (dropped > 0) step.rejections.Reject("early chunk", "of a key that never came", step.actions);
  }
  if (early_.Keep(std::move(message), std::move(payload), step.now)) return Verdict::kTaken;
  if (denied_.size() < kMostDeniedRounds) denied_.insert(round);
  return Verdict::kNoRoom;
}

bool RoundEngine::TakeDenied(KeyId key) {
  bool has_any = false;
  for (auto next = denied_.lower_bound({key, Round(0)}); next != denied_.end() && next->first == key;) {
    const auto denied = next++;
    if (!book_->FindBinding(key, denied->second).has_value()) continue;
    denied_.erase(denied);
    has_any = true;
  }
  return has_any;
}

Verdict RoundEngine::OnChunk(StepContext& step, ChunkMessage message, Payload payload) {
  const KeyId key = message.id.key;
  const Round round = message.id.round;
  if (book_->FindKey(key) == nullptr) return KeepEarly(step, std::move(message), std::move(payload));
  const KeyRounds& rounds = KeyOf(key).rounds;
  // A late duplicate of a round that is over here: its source only wants to hear that it arrived.
  if (round < rounds.next_closed()) return Verdict::kTaken;
  if (rounds.IsTooFar(round, config_.rounds_in_flight)) {
    return Refuse(step, message, absl::StrCat("round ", rounds.next_complete().value(), " is not complete here yet"));
  }
  RoundState* state = Bound(step, key, round);
  if (state == nullptr) return KeepEarly(step, std::move(message), std::move(payload));
  // Who has said that is no member any more: this node still waits for the one that is.
  if (!IsOfThisStart(message, *state)) return Refuse(step, message, "its source has been started again since");
  const std::string fault = FaultOf(message, *state);
  if (!fault.empty()) return Refuse(step, *state, message, fault);
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
  std::string fault = FaultOfShape(message, *state.attempt);
  if (fault.empty()) fault = FaultOfSource(message, state);
  return fault.empty() ? FaultOfWeight(message, state) : fault;
}

std::string RoundEngine::FaultOfShape(const ChunkMessage& message, const ReduceHalf& attempt) {
  const ChunkIndex chunk = message.id.chunk;
  if (chunk.value() >= attempt.chunks()) return absl::StrCat("of ", attempt.chunks(), " chunks");
  if (message.tree != attempt.TreeOf(chunk)) {
    return absl::StrCat("tree ", message.tree.value(), " came, expected ", attempt.TreeOf(chunk).value());
  }
  if (message.elements != attempt.RangeOf(chunk).elements) {
    return absl::StrCat(message.elements, " elements came, expected ", attempt.RangeOf(chunk).elements);
  }
  if ((message.weight == 0) != message.frames.empty()) {
    return absl::StrCat("weight ", message.weight, " came with ", message.frames.size(), " frames");
  }
  return "";
}

bool RoundEngine::IsOfThisStart(const ChunkMessage& message, const RoundState& state) {
  const auto is_former = [&message](const auto& known) {
    return known.node == message.route.source() && known.incarnation != message.source_incarnation;
  };
  const PolicySlice& slice = *state.binding->slice;
  return std::none_of(slice.neighbours.begin(), slice.neighbours.end(), is_former) &&
         std::none_of(slice.relayed.begin(), slice.relayed.end(), is_former);
}

std::string RoundEngine::FaultOfSource(const ChunkMessage& message, const RoundState& state) {
  const NodeId source = message.route.source();
  const TreeSlice& place = state.attempt->PlaceOf(message.id.chunk);
  if (message.id.half == Half::kBroadcast) {
    return place.broadcast_parent == source ? "" : "its source is not the parent";
  }
  return std::binary_search(place.reduce_children.begin(), place.reduce_children.end(), source)
             ? ""
             : "its source is not a child";
}

std::string RoundEngine::FaultOfWeight(const ChunkMessage& message, const RoundState& state) const {
  const bool is_result = message.id.half == Half::kBroadcast;
  const uint64_t members = state.binding->slice->member_count;
  const uint64_t most = kMaxWorkersPerNode * (is_result ? members : members - 1);
  const ReduceHalf& attempt = *state.attempt;
  const bool is_new = !is_result && !attempt.HasCounted(message.id.chunk, message.route.source());
  const uint64_t before = is_new ? attempt.WeightOf(message.id.chunk) : 0;
  // This node's own workers may be in the sum already, and none of them counts against the children.
  const uint64_t own = is_new && attempt.HasCounted(message.id.chunk, self_) ? config_.workers : 0;
  if (message.weight <= most && before + message.weight <= most + own) return "";
  return absl::StrCat("weight ", message.weight, " came on top of ", before, ", but the job's ", members,
                      " nodes have at most ", kMaxWorkersPerNode, " workers each");
}

bool RoundEngine::AgreesOnKind(StepContext& step, KeyId key, Round round, RoundState& state, RoundKind kind,
                               NodeId said_by) {
  if (!state.kind.has_value()) {
    state.kind = kind;
    state.kind_said_by = said_by;
  }
  if (*state.kind == kind) return true;
  const bool is_own = said_by == self_;
  const NodeId other = is_own ? state.kind_said_by : said_by;
  const NodeId against = is_own ? said_by : state.kind_said_by;
  const std::string against_name = against == self_ ? "this node" : network_->NameOf(against);
  listener_->OnRoundBroken(step, key, round, other,
                           absl::StrCat("members disagree: ", NameOf(is_own ? *state.kind : kind), " there, ",
                                        NameOf(is_own ? kind : *state.kind), " at ", against_name,
                                        "; all workers must call the same operations of a key in the same order"));
  return false;
}

Verdict RoundEngine::OnContribution(StepContext& step, RoundState& state, ChunkMessage message, Payload payload) {
  ReduceHalf& attempt = *state.attempt;
  const ChunkIndex chunk = message.id.chunk;
  const NodeId source = message.route.source();
  if (attempt.HasCounted(chunk, source)) return Verdict::kTaken;
  // What cannot be decoded must not be counted: the sum would miss it and nobody would know.
  absl::StatusOr<CheckedChunk> input =
      CheckChunk({std::move(message.frames), std::move(payload), message.weight}, attempt.RangeOf(chunk).elements);
  if (!input.ok()) return Refuse(step, state, message, std::string(input.status().message()));
  if (!AgreesOnKind(step, message.id.key, message.id.round, state, message.kind, source)) return Verdict::kRefused;
  attempt.CountChild(step, message.kind, chunk, source, message.result_ratio, *std::move(input));
  return Verdict::kTaken;
}

Verdict RoundEngine::OnResult(StepContext& step, RoundState& state, ChunkMessage message, Payload payload) {
  const ChunkIndex chunk = message.id.chunk;
  const ReduceHalf::State stands = state.attempt->StateOf(chunk);
  if (stands == ReduceHalf::State::kDone) return Verdict::kTaken;
  if (stands != ReduceHalf::State::kPassedUp) {
    return Refuse(step, state, message, "a result came before this node's contribution had left");
  }
  if (message.frames.empty()) return Refuse(step, state, message, "a result without values");
  if (message.kind != state.kind) {
    return Refuse(
        step, state, message,
        absl::StrCat("the result of a round of kind ", NameOf(message.kind), ", expected ", NameOf(*state.kind)));
  }
  absl::StatusOr<CheckedChunk> result = CheckChunk({std::move(message.frames), std::move(payload), message.weight},
                                                   state.attempt->RangeOf(chunk).elements);
  if (!result.ok()) return Refuse(step, state, message, std::string(result.status().message()));
  TakeResult(step, state, chunk, *std::move(result));
  return Verdict::kTaken;
}

void RoundEngine::TakeResult(StepContext& step, RoundState& state, ChunkIndex chunk, CheckedChunk result) {
  state.attempt->OnResult(chunk);
  state.results->Take(step, *state.kind, chunk, state.attempt->PlaceOf(chunk).broadcast_children, std::move(result));
}

void RoundEngine::OnBookChanged(StepContext& step, const std::vector<KeyId>& keys) {
  const int64_t before = early_.size_bytes();
  bool has_policy = false;
  for (KeyId key : keys) {
    if (keys_.contains(key)) TryOpen(step, key);
  }
  for (KeyId key : keys) {
    TakeEarly(step, key);
    has_policy = TakeDenied(key) || has_policy;
  }
  if (has_policy || early_.size_bytes() < before) network_->GrantRoom(step);
}

void RoundEngine::TakeEarly(StepContext& step, KeyId key) {
  for (Round round : early_.RoundsOf(key)) {
    // The key is known only now: what claims to be of an impossible round is for OnChunk to refuse.
    const bool is_possible = !KeyOf(key).rounds.IsTooFar(round, config_.rounds_in_flight);
    if (is_possible && Bound(step, key, round) == nullptr) continue;
    for (EarlyStore::Chunk& chunk : early_.Take(key, round)) TakeEarly(step, std::move(chunk));
  }
}

void RoundEngine::TakeEarly(StepContext& step, EarlyStore::Chunk chunk) {
  const KeyId key = chunk.message.id.key;
  const Round round = chunk.message.id.round;
  const NodeId source = chunk.message.route.source();
  if (OnChunk(step, std::move(chunk.message), std::move(chunk.payload)) != Verdict::kRefused) return;
  const RoundState* state = FindRound(key, round);
  if (state == nullptr) return;
  const auto refusal = state->refusals.lower_bound({source, ""});
  const bool is_wrong = refusal != state->refusals.end() && refusal->first == source;
  if (is_wrong) listener_->OnRoundBroken(step, key, round, source, refusal->second);
}

void RoundEngine::OnClosedEverywhere(StepContext& step, KeyId key, Round round) {
  const RoundState* state = FindRound(key, round);
  if (state == nullptr || !state->complete) return;
  KeyRounds& rounds = KeyOf(key).rounds;
  const std::optional<Round> last_closed = rounds.Close(round);
  if (last_closed.has_value()) book_->Forget(key, *last_closed);
  rounds.DropOld();
  TryOpen(step, key);
}

bool RoundEngine::IsIdle() const {
  return std::all_of(keys_.begin(), keys_.end(), [](const auto& key) { return key.second.rounds.IsIdle(); });
}

void RoundEngine::Replay(KeyId key, Round round, const BroadcastHalf::Sink& sink) const {
  auto known = keys_.find(key);
  if (known == keys_.end()) return;
  const RoundState* state = known->second.rounds.Find(round);
  if (state != nullptr && state->results.has_value()) state->results->Replay(sink);
}

void RoundEngine::Clear() {
  keys_.clear();
  model_bytes_ = 0;
  early_.Clear();
  denied_.clear();
}

void RoundEngine::RegisterWeights(StepContext& step, KeyId key, Buffer weights) {
  const KeySlice& row = *book_->FindKey(key);
  TensorMemory& memory = KeyOf(key).memory;
  BANYAN_CHECK(weights.elements() == row.elements);
  if (memory.has_optimizer() || !encodings_.Prunes(row)) return;
  // They count from now on; the worker's memory goes back once they are copied.
  memory.SetWeights(weights);
  const void* registered = weights.data();
  std::vector<CheckedChunk> inputs = {EncodeChunk({.codec = CodecId::kFp32}, weights, 1)};
  auto work = std::make_unique<AccumulateChunk>(Buffer(), true, std::move(inputs), row.elements);
  computations_->Start<AccumulateChunk>(step, std::move(work),
                                        [this, key, registered](StepContext&, AccumulateChunk& done) {
                                          KeyOf(key).memory.MoveWeights(registered, done.accumulator());
                                        });
}

void RoundEngine::CountLate(StepContext& step, KeyId key, Round round, const std::string& what) {
  step.rejections.Reject("late computation",
                         absl::StrCat("key ", key.value(), " round ", round.value(), ": ", what, " is gone"),
                         step.actions);
}

ReduceHalf* RoundEngine::FindReduceHalf(StepContext& step, const AttemptId& id) {
  RoundState* state = FindRound(id.key, id.round);
  const bool is_current = state != nullptr && state->attempt.has_value() && state->binding->attempt == id.attempt;
  if (is_current) return &*state->attempt;
  CountLate(step, id.key, id.round, absl::StrCat("attempt ", id.attempt.value()));
  return nullptr;
}

BroadcastHalf* RoundEngine::FindBroadcastHalf(StepContext& step, KeyId key, Round round) {
  RoundState* state = FindRound(key, round);
  if (state != nullptr && state->results.has_value()) return &*state->results;
  CountLate(step, key, round, "the round");
  return nullptr;
}

void RoundEngine::OnSum(StepContext& step, const AttemptId& id, ChunkIndex chunk, NodeId parent,
                        const CheckedChunk& sum, double result_ratio) {
  ChunkMessage message = MessageTo(parent, id.key, id.round, chunk, Half::kReduce, sum);
  message.result_ratio = result_ratio;
  network_->SendChunk(step, std::move(message), sum.encoded().payload);
}

void RoundEngine::OnResultMade(StepContext& step, const AttemptId& id, ChunkIndex chunk, CheckedChunk result) {
  TakeResult(step, *FindRound(id.key, id.round), chunk, std::move(result));
}

void RoundEngine::OnSumBroken(StepContext& step, const AttemptId& id, NodeId culprit, const std::string& reason) {
  listener_->OnRoundBroken(step, id.key, id.round, culprit, reason);
}

void RoundEngine::OnResultFor(StepContext& step, KeyId key, Round round, ChunkIndex chunk, NodeId child,
                              const CheckedChunk& result) {
  network_->SendChunk(step, MessageTo(child, key, round, chunk, Half::kBroadcast, result), result.encoded().payload);
}

void RoundEngine::OnRead(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) {
  listener_->OnValues(step, key, round, first_element, values);
}

void RoundEngine::OnAllRead(StepContext& step, KeyId key, Round round, uint64_t hash) {
  KeyOf(key).rounds.Complete(round);
  listener_->OnRoundComplete(step, key, round, hash);
  TryOpen(step, key);
}

ChunkMessage RoundEngine::MessageTo(NodeId destination, KeyId key, Round round, ChunkIndex chunk, Half half,
                                    const CheckedChunk& encoded) const {
  const RoundState& state = *keys_.at(key).rounds.Find(round);
  const PolicySlice& slice = *state.binding->slice;
  ChunkMessage message;
  message.id = {slice.epoch, state.binding->attempt, round, key, chunk, half};
  message.policy = slice.version;
  message.tree = state.attempt->TreeOf(chunk);
  message.kind = state.contribution->kind;
  if (half == Half::kBroadcast) message.made_in = slice.epoch;
  message.source_incarnation = incarnation_;
  message.route.path = PolicyBook::PathTo(slice, self_, destination);
  message.weight = encoded.weight();
  message.priority = state.contribution->priority;
  message.elements = state.attempt->RangeOf(chunk).elements;
  message.place = state.binding->chunks->PlaceOf(key, chunk);
  message.frames = encoded.encoded().frames;
  return message;
}

std::vector<NodeReport::Memory> RoundEngine::MemoryReport() const {
  uint64_t contributions = 0, sums = 0, results = 0, replicas = 0, residuals = 0, weights = 0, optimizers = 0;
  for (const auto& [key, of_key] : keys_) {
    const TensorMemory::Sizes sizes = of_key.memory.sizes();
    replicas += sizes.replica_bytes;
    residuals += sizes.residual_bytes;
    weights += sizes.weights_bytes;
    optimizers += sizes.optimizer_bytes;
    for (const auto& [round, state] : of_key.rounds.all()) {
      if (state.contribution.has_value()) contributions += state.contribution->values.size_bytes();
      if (state.attempt.has_value()) sums += state.attempt->sum_bytes();
      if (state.results.has_value()) results += state.results->size_bytes();
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
