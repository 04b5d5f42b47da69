#include "node/rounds/round_engine.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compression/element_types.h"
#include "compression/encoded_chunk.h"
#include "core/check.h"
#include "node/chunk_size.h"
#include "node/rounds/chunk_computations.h"
#include "node/step_context.h"
#include "node/trim/chunk_cut.h"
#include "node/trim/trim_policy.h"
#include "node/votes/open_votes.h"
#include "node/votes/vote_computations.h"

namespace banyan {
namespace {

using Verdict = PeerNetwork::Verdict;

// Refusals of one round that are told apart.
constexpr size_t kMostRefusals = 64;
// Keys and sources of which it is noted that a chunk was refused.
constexpr size_t kMostLongRefused = 1024;

}  // namespace

RoundEngine::RoundEngine(NodeId self, Incarnation incarnation, const JobConfig& config, PolicyTable* policy_table,
                         PeerNetwork* network, ComputationTable* computations, Listener* listener, RoundScript* script)
    : self_(self),
      source_{self, incarnation},
      config_(config),
      policy_table_(policy_table),
      network_(network),
      computations_(computations),
      listener_(listener),
      rules_(self, config.workers, config.aggregation.quorum > 0),
      routes_(config.low_bit),
      encodings_(self, config.compression, MakeTrimPolicy(config.trimming, self)->LooksAtTheLink(), script),
      early_(config, policy_table),
      silent_(config.heartbeat),
      script_(script) {
  // An optimizer's step, or a residual, works on what the step before left; late workers get sums of results in order.
  const bool has_residuals = encodings_.KeepsResiduals() || routes_.LeavesResiduals();
  const bool builds_on_the_last = IsOptimizer(config_.aggregation.op) || has_residuals;
  if (builds_on_the_last || config_.aggregation.quorum > 0) config_.rounds_in_flight = 1;
}

KeyState& RoundEngine::KeyOf(KeyId key) {
  auto known = keys_.find(key);
  if (known != keys_.end()) return known->second;
  const KeySlice& row = *policy_table_->FindKey(key);
  early_.Grow(row.elements * SizeOf(row.type));
  TensorMemory memory(config_.aggregation, row.elements, row.type);
  return keys_.emplace(key, KeyState{std::move(memory), {}}).first->second;
}

RoundState* RoundEngine::FindRound(KeyId key, Round round) {
  auto known = keys_.find(key);
  return known == keys_.end() ? nullptr : known->second.rounds.Find(round);
}

void RoundEngine::Contribute(StepContext& step, KeyId key, Round round, Contribution contribution) {
  KeyRounds& rounds = KeyOf(key).rounds;
  if (round < rounds.next_closed()) return;
  RoundState& state = rounds.FindOrAdd(round);
  BANYAN_CHECK(!state.contribution.has_value());
  state.is_taken_back = false;
  state.contribution = std::move(contribution);
  network_->recorder().OnContributed(key, round, step.now);
  listener_->OnPolicyWanted(step, key, round);
  TryOpen(step, key);
}

void RoundEngine::OfferValues(StepContext& step, KeyId key, Buffer values) {
  if (!KeyOf(key).rounds.Replace(Round(0), {RoundKind::kBroadcast, std::move(values), 1, 0})) return;
  AgreesOnKind(step, key, Round(0), *FindRound(key, Round(0)), RoundKind::kBroadcast, self_);
}

void RoundEngine::Abstain(StepContext& step, KeyId key, Round from, Round before) {
  KeyState& of_key = KeyOf(key);
  of_key.abstention.Begin(std::max(from, of_key.rounds.next_complete()));
  of_key.abstention.Limit(before);
  RestoreAbstentions(step, key, before);
}

void RoundEngine::LimitAbstention(KeyId key, Round before) {
  const auto known = keys_.find(key);
  if (known == keys_.end()) return;
  known->second.abstention.Limit(before);
  known->second.rounds.TakeBackAbstentions(before);
}

void RoundEngine::RestoreAbstentions(StepContext& step, KeyId key, Round before) {
  const auto known = keys_.find(key);
  if (known == keys_.end()) return;
  known->second.rounds.RestoreAbstentions(before);
  TryOpen(step, key);
}

void RoundEngine::TakeAbstentions(StepContext& step, KeyId key, KeyState& of_key) {
  Abstention& abstention = of_key.abstention;
  if (of_key.is_held) return;
  abstention.SkipTo(of_key.rounds.next_closed());
  for (std::optional<Round> next; (next = abstention.next()).has_value(); abstention.Advance()) {
    if (!of_key.rounds.HasRoomFor(*next, config_.rounds_in_flight)) return;
    if (of_key.rounds.IsComplete(*next)) continue;
    of_key.rounds.FindOrAdd(*next).contribution = Contribution{RoundKind::kAbstention, Buffer(), 0, 0};
    listener_->OnPolicyWanted(step, key, *next);
  }
}

RoundState* RoundEngine::Bound(StepContext& step, KeyId key, Round round) {
  std::optional<PolicyTable::Binding> binding = policy_table_->FindBinding(key, round);
  if (!binding.has_value()) {
    listener_->OnPolicyWanted(step, key, round);
    return nullptr;
  }
  KeyState& of_key = KeyOf(key);
  RoundState& state = of_key.rounds.FindOrAdd(round);
  if (state.binding.has_value()) return &state;
  if (state.results.has_value() && !state.results->Fits(*binding->chunks)) {
    listener_->OnRoundBroken(step, key, round, NodeId(),
                             "a new attempt divides it into other chunks than the results that are here");
    return nullptr;
  }
  state.binding = binding;
  if (script_ != nullptr) script_->OnBound(key, round, *binding->slice);
  const AggregationConfig& how = config_.aggregation;
  OpenVotes* const votes = routes_.LeavesResiduals() ? &state.votes : nullptr;
  const ReduceHalf::Tools tools{self_,           how.op, &encodings_,     computations_,   &state.residuals,
                                &waiting_bytes_, this,   how.fixed_order, routes_.votes(), votes};
  state.attempt.emplace(policy_table_->FindKey(key), round, *binding, &of_key.memory, tools);
  state.passing.emplace(&*state.attempt);
  BroadcastHalf::Owner* const owner = this;
  if (state.results.has_value()) {
    PassOnHeld(step, key, round, state);
  } else {
    state.results.emplace(key, round, *binding, &of_key.memory, computations_, owner);
  }
  return &state;
}

void RoundEngine::PassOnHeld(StepContext& step, KeyId key, Round round, RoundState& state) {
  for (uint32_t index = 0; index < state.attempt->chunks(); ++index) {
    const ChunkIndex chunk(index);
    if (!state.results->Has(chunk)) continue;
    const auto cuts = state.cuts.find(chunk);
    ChunkResult held = {state.results->MadeIn(chunk), state.results->ResultOf(chunk), {}};
    if (cuts != state.cuts.end()) held.cuts = cuts->second;
    TakeResult(step, key, round, state, chunk, std::move(held), ResultPassing::From::kHeld);
  }
}

void RoundEngine::TryOpen(StepContext& step, KeyId key) {
  TakeAbstentions(step, key, KeyOf(key));
  KeyRounds& rounds = KeyOf(key).rounds;
  for (auto& [round, waiting] : rounds.all()) {
    if (waiting.open || waiting.complete || !waiting.contribution.has_value()) continue;
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
  if (!AgreesOnKind(step, key, round, state, own.kind, self_)) return;
  // Every member keeps its values: another one may be the source of the next attempt.
  const bool is_silent = own.kind == RoundKind::kBroadcast && state.binding->slice->source != self_;
  const std::vector<Buffer> parts = is_silent ? std::vector<Buffer>() : own.Parts();
  const PolicyTable::Binding& binding = *state.binding;
  const uint32_t chunks = state.attempt->chunks();
  const ChunkId first{binding.slice->epoch, binding.attempt, round, key, ChunkIndex(0), Half::kReduce};
  state.attempt->CountOwn(step, own.kind, parts, is_silent ? 0 : own.weight);
  for (ChunkId id = first; id.chunk.value() < chunks; id.chunk = id.chunk.Next()) GrantNext(step, id);
}

Verdict RoundEngine::Refuse(StepContext& step, const ChunkMessage& message, const std::string& why) {
  step.rejections.Reject(
      "chunk",
      absl::StrCat("key ", message.id.key.value(), " round ", message.id.round.value(), " chunk ",
                   message.id.chunk.value(), " from ", network_->NameOf(message.route.source()), ": ", why),
      step.actions);
  return Verdict::kRefused;
}

bool RoundEngine::NoteRefused(StepContext& step, const ChunkMessage& message, const std::string& why) {
  Refuse(step, message, why);
  const std::string what = absl::StrCat("chunk ", message.id.chunk.value(), " of round ", message.id.round.value(),
                                        " from ", network_->NameOf(message.route.source()), " is refused: ", why);
  const std::pair<KeyId, NodeId> from{message.id.key, message.route.source()};
  if (refused_.size() >= kMostLongRefused && !refused_.contains(from)) return false;
  Refused& refused = refused_[from];
  if (refused.what != what) refused = {step.now, what};
  return step.now - refused.since >= config_.lost_after;
}

std::string RoundEngine::WhyRefused(KeyId key) const {
  const auto refused = refused_.lower_bound({key, NodeId()});
  return refused == refused_.end() || refused->first.first != key ? "" : refused->second.what;
}

Verdict RoundEngine::Refuse(StepContext& step, RoundState& state, const ChunkMessage& message, const std::string& why) {
  const NodeId source = message.route.source();
  const std::string what = absl::StrCat("its ", message.id.half == Half::kReduce ? "contribution to" : "result of",
                                        " chunk ", message.id.chunk.value(), " is refused: ", why);
  const bool is_first = state.refusals.size() < kMostRefusals && state.refusals.emplace(source, what).second;
  if (!is_first) listener_->OnRoundBroken(step, message.id.key, message.id.round, source, what);
  return Refuse(step, message, why);
}

Verdict RoundEngine::TakeChunk(StepContext& step, ChunkMessage message, Payload payload, bool was_kept) {
  const KeyId key = message.id.key;
  const Round round = message.id.round;
  if (message.id.epoch < epoch_) {
    // Its source has yet to hear that the epoch is over.
    ++stale_chunks_;
    return Verdict::kTaken;
  }
  if (message.id.epoch > planned_ || policy_table_->FindKey(key) == nullptr) {
    return early_.Keep(step, planned_, std::move(message), std::move(payload));
  }
  const KeyRounds& rounds = KeyOf(key).rounds;
  if (round < rounds.next_closed()) return Verdict::kTaken;  // a late duplicate: its source only waits for this word
  if (rounds.IsTooFar(round, config_.rounds_in_flight)) {
    const bool is_long =
        NoteRefused(step, message, absl::StrCat("round ", rounds.next_complete().value(), " is not complete here yet"));
    if (is_long) listener_->OnRoundBroken(step, key, round, message.route.source(), WhyRefused(key));
    return Verdict::kRefused;
  }
  RoundState* state = Bound(step, key, round);
  if (state == nullptr) return early_.Keep(step, planned_, std::move(message), std::move(payload));
  // Who has said that is no member any more: this node still waits for the one that is.
  const bool is_stale = !ChunkRules::IsOfThisStart(message, *state);
  if (is_stale) {
    NoteRefused(step, message, "its source has been started again since");
    return Verdict::kRefused;
  }
  std::string fault = rules_.FaultOf(message, *state);
  const auto route = [&] { return state->binding->RouteOf(key, message.id.chunk); };
  if (fault.empty()) fault = routes_.FaultOf(message, route(), policy_table_->FindKey(key)->type);
  if (!fault.empty()) return Refuse(step, *state, message, fault);
  if (message.made_in != Epoch()) return OnResult(step, *state, std::move(message), std::move(payload));
  const bool is_more = !was_kept && state->attempt->WouldWait(message.id.chunk, message.route.source());
  if (is_more && waiting_bytes_ + PayloadBytes(payload) > early_.capacity_bytes()) {
    has_denied_inputs_ = true;
    return Verdict::kNoRoom;
  }
  return OnContribution(step, *state, std::move(message), std::move(payload));
}

void RoundEngine::GrantInputs(StepContext& step) {
  // In a fixed order each input is granted when it is its turn.
  const bool is_full = waiting_bytes_ > (config_.aggregation.fixed_order ? 0 : early_.capacity_bytes() / 2);
  if (!has_denied_inputs_ || is_full) return;
  has_denied_inputs_ = false;
  network_->GrantRoom(step);
}

void RoundEngine::GrantNext(StepContext& step, const ChunkId& id) {
  if (!has_denied_inputs_ || !config_.aggregation.fixed_order) return;
  const RoundState* state = FindRound(id.key, id.round);
  if (state == nullptr || !state->attempt.has_value()) return;
  network_->GrantChunk(step, state->attempt->FirstMissing(id.chunk), id);
}

bool RoundEngine::AgreesOnKind(StepContext& step, KeyId key, Round round, RoundState& state, RoundKind kind,
                               NodeId said_by) {
  if (kind == RoundKind::kAbstention) return true;
  if (!state.kind.has_value()) {
    state.kind = kind;
    state.kind_said_by = said_by;
  }
  if (*state.kind == kind) return true;
  const bool is_own = said_by == self_;
  const NodeId other = is_own ? state.kind_said_by : said_by;
  const NodeId against = is_own ? said_by : state.kind_said_by;
  const std::string against_name = against == self_ ? "this node" : network_->NameOf(against);
  const RoundKind there = is_own ? *state.kind : kind;
  const RoundKind here = is_own ? kind : *state.kind;
  listener_->OnRoundBroken(step, key, round, other, ChunkRules::DescribeDisagreement(there, here, against_name));
  return false;
}

Verdict RoundEngine::OnContribution(StepContext& step, RoundState& state, ChunkMessage message, Payload payload) {
  ReduceHalf& attempt = *state.attempt;
  const ChunkIndex chunk = message.id.chunk;
  const NodeId source = message.route.source();
  if (attempt.HasCounted(chunk, source)) return Verdict::kTaken;
  // What cannot be decoded must not be counted: the sum would miss it and nobody would know.
  absl::StatusOr<CheckedChunk> input =
      routes_.Check({std::move(message.frames), std::move(payload), message.weight}, attempt.RangeOf(chunk).elements);
  if (!input.ok()) return Refuse(step, state, message, std::string(input.status().message()));
  if (!AgreesOnKind(step, message.id.key, message.id.round, state, message.kind, source)) return Verdict::kRefused;
  if (message.cut_frames > 0) message.cuts.push_back({source, message.cut_frames});
  attempt.CountChild(step, message.kind, chunk, source, message.result_ratio, *std::move(input), message.cuts);
  GrantNext(step, message.id);
  return Verdict::kTaken;
}

Verdict RoundEngine::OnResult(StepContext& step, RoundState& state, ChunkMessage message, Payload payload) {
  const ChunkIndex chunk = message.id.chunk;
  const NodeId source = message.route.source();
  const bool goes_up = message.id.half == Half::kReduce;
  if (goes_up && state.attempt->HasCounted(chunk, source)) return Verdict::kTaken;
  if (const std::string fault = ChunkRules::FaultOfResult(message, state); !fault.empty()) {
    return Refuse(step, state, message, fault);
  }
  absl::StatusOr<CheckedChunk> result =
      CheckChunk({message.frames, std::move(payload), message.weight}, state.attempt->RangeOf(chunk).elements);
  if (!result.ok()) return Refuse(step, state, message, std::string(result.status().message()));
  if (state.results->Has(chunk) && !state.results->IsSame(chunk, message.made_in, *result)) {
    return Refuse(step, state, message, "another result than the one that this node holds");
  }
  AgreesOnKind(step, message.id.key, message.id.round, state, message.kind, source);
  TakeResult(step, message.id.key, message.id.round, state, chunk,
             {message.made_in, *std::move(result), std::move(message.cuts)},
             goes_up ? ResultPassing::From::kChild : ResultPassing::From::kParent);
  if (goes_up) state.attempt->CountResult(chunk, source);
  return Verdict::kTaken;
}

void RoundEngine::TakeResult(StepContext& step, KeyId key, Round round, RoundState& state, ChunkIndex chunk,
                             ChunkResult result, ResultPassing::From from) {
  const bool has_passed_up = state.attempt->StateOf(chunk) == ReduceHalf::State::kPassedUp;
  state.attempt->OnResult(chunk);
  // Nobody's result has no kind: other chunks of the round may have had values of members that are gone.
  const RoundKind kind = result.chunk.empty() ? RoundKind::kAbstention : *state.kind;
  for (const ResultPassing::Hop& hop : state.passing->OnResult(chunk, from, has_passed_up)) {
    ChunkMessage message = MakeChunkMessage(source_, hop.to, state, kind, key, round, chunk, hop.half, result.chunk);
    message.made_in = result.made_in;
    message.cuts = result.cuts;
    Send(step, std::move(message), result.chunk.encoded().payload);
  }
  if (result.chunk.weight() > 0) silent_.OnSpoken(key);
  if (state.results->Has(chunk)) return;
  state.residuals.OnResult(chunk, result.made_in, KeyOf(key).memory);
  ReturnCuts(step, key, round, state, chunk, result.made_in, std::move(result.cuts));
  SettleVotesOf(step, key, round, state, chunk, result.made_in, result.chunk);
  state.results->Take(step, kind, chunk, result.made_in, std::move(result.chunk));
}

// ---- what comes back ----

// What was cut of this node's contribution is added to the residual, and goes into a later round. A result says what
// was cut of all that is in it: so what comes back is exactly what the result lacks, whichever copy of a contribution
// was taken, and whatever happened to acknowledgements and epochs since.
void RoundEngine::ReturnCuts(StepContext& step, KeyId key, Round round, RoundState& state, ChunkIndex chunk,
                             Epoch made_in, std::vector<Cut> cuts) {
  const std::optional<CheckedChunk> sent = state.sent.Take(chunk, made_in);
  const auto own = std::find_if(cuts.begin(), cuts.end(), [this](const Cut& cut) { return cut.node == self_; });
  const uint32_t frames = own == cuts.end() ? 0 : own->frames;
  if (!cuts.empty()) state.cuts.insert_or_assign(chunk, std::move(cuts));
  if (!sent.has_value()) return;
  const std::optional<NodeId> parent = state.attempt->PlaceOf(chunk).reduce_parent;
  if (parent.has_value() && !sent->empty()) {
    const size_t taken = sent->encoded().frames.size() - std::min<size_t>(frames, sent->encoded().frames.size());
    encodings_.ObserveUplink(*parent, sent->payload_bytes(), CutChunk(*sent, taken).payload_bytes());
  }
  if (frames == 0) return;
  if (script_ != nullptr) script_->OnCut({key, round, chunk, Half::kReduce}, frames);
  ++state.returning;
  computations_->Start<CutRemainder>(
      step, std::make_unique<CutRemainder>(*sent, frames, computations_->device()),
      [this, key, round, range = state.attempt->RangeOf(chunk)](StepContext& later, CutRemainder& done) {
        OnReturned(later, key, round, [&](TensorMemory& memory) { memory.AddToResidual(range, done.left()); });
      });
}

// What this node's votes have left out, when the result says what they were worth, becomes the voters' residual, and
// goes into a later round. Where residuals went in as they are, they are used up. They change only by a result that is
// held here: an attempt that comes to nothing leaves them as they were.
void RoundEngine::SettleVotesOf(StepContext& step, KeyId key, Round round, RoundState& state, ChunkIndex chunk,
                                Epoch made_in, const CheckedChunk& result) {
  std::optional<OpenVotes::Part> part = state.votes.Take(chunk, made_in);
  if (!part.has_value()) return;
  if (part->votes.empty()) return KeyOf(key).memory.voters().Commit(part->range, {});
  ++state.returning;
  computations_->Start<SettleVotes>(
      step, std::make_unique<SettleVotes>(std::move(part->votes), result),
      [this, key, round, range = part->range](StepContext& later, SettleVotes& done) {
        OnReturned(later, key, round, [&](TensorMemory& memory) { memory.voters().Commit(range, done.left()); });
      });
}

// A round is not complete before all has come back: the next one, and a flush, begins with it.
void RoundEngine::OnReturned(StepContext& step, KeyId key, Round round, absl::FunctionRef<void(TensorMemory&)> add) {
  const auto known = keys_.find(key);
  if (known == keys_.end()) return;
  add(known->second.memory);
  // It may have been closed by an epoch's plan meanwhile.
  RoundState* const state = known->second.rounds.Find(round);
  if (state == nullptr) return;
  BANYAN_CHECK(state->returning > 0);
  if (--state->returning == 0) CompleteIfReturned(step, key, round, *state);
}

// ---- epochs ----

void RoundEngine::BeginEpoch(Epoch epoch) {
  epoch_ = epoch;
  refused_.clear();
  policy_table_->DropBindings();
  for (auto& [key, of_key] : keys_) {
    for (auto& [round, state] : of_key.rounds.all()) state.DropAttempt();
  }
  silent_.Clear();
  has_denied_inputs_ = false;
  stale_chunks_ += early_.DropBefore(epoch);
  network_->BeginEpoch(epoch);
}

void RoundEngine::UsePlan(StepContext& step, const EpochPlan& plan, bool is_fresh) {
  epoch_ = planned_ = plan.epoch;
  std::vector<KeyId> keys;
  for (const EpochPlan::Frontier& frontier : plan.frontiers) {
    policy_table_->ForEachKey({frontier.first_key, frontier.last_key}, [&](KeyId key) {
      if (frontier.first_open == Round(0) && !keys_.contains(key)) return;
      KeyOf(key).rounds.Rebase(frontier.first_open);
      if (is_fresh && frontier.first_open > Round(0)) replicas_.Lack(key);
    });
  }
  for (auto& [key, of_key] : keys_) {
    for (auto& [round, state] : of_key.rounds.all()) {
      if (policy_table_->FindBinding(key, round).has_value()) Bound(step, key, round);
    }
  }
  for (const auto& [key, row] : policy_table_->keys()) keys.push_back(key);
  OnBookChanged(step, keys);
}

void RoundEngine::OnDeadline(StepContext& step) {
  for (const auto& [id, chunk] : silent_.TakeDue(step.now)) {
    ReduceHalf* attempt = FindReduceHalf(step, id);
    if (attempt == nullptr) continue;
    const std::optional<Contribution>& own = FindRound(id.key, id.round)->contribution;
    const Buffer values = own.has_value() ? own->values : Buffer();
    // The job cannot begin from nothing: it waits for a worker.
    if (id.round == Round(0) && values.empty()) {
      silent_.Add(id, chunk, step.now);
      continue;
    }
    attempt->FinishSilent(step, chunk, values);
  }
}

void RoundEngine::OnBookChanged(StepContext& step, const std::vector<KeyId>& keys) {
  const int64_t before = early_.size_bytes();
  bool has_policy = false;
  for (KeyId key : keys) {
    if (keys_.contains(key)) TryOpen(step, key);
  }
  for (KeyId key : keys) {
    TakeEarly(step, key);
    has_policy = early_.TakeDenied(key) || has_policy;
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
  const Verdict verdict = TakeChunk(step, std::move(chunk.message), std::move(chunk.payload), /*was_kept=*/true);
  if (verdict != Verdict::kRefused) return;
  const RoundState* state = FindRound(key, round);
  if (state == nullptr) return;
  const auto refusal = state->refusals.lower_bound({source, ""});
  const bool is_wrong = refusal != state->refusals.end() && refusal->first == source;
  if (is_wrong) listener_->OnRoundBroken(step, key, round, source, refusal->second);
}

void RoundEngine::OnClosedEverywhere(StepContext& step, KeyId key, Round round) {
  network_->DropRound(key, round);
  if (policy_table_->FindKey(key) == nullptr) return;
  KeyRounds& rounds = KeyOf(key).rounds;
  const std::optional<Round> last_closed = rounds.IsComplete(round) ? rounds.Close(round) : rounds.Skip(round);
  if (last_closed.has_value()) policy_table_->Forget(key, *last_closed);
  rounds.DropOld();
  TryOpen(step, key);
}

void RoundEngine::Replay(KeyId key, Round round, const BroadcastHalf::Sink& sink) const {
  auto known = keys_.find(key);
  if (known == keys_.end()) return;
  const std::optional<std::pair<Round, Buffer>>& fetched = known->second.fetched;
  if (fetched.has_value() && fetched->first == round) return sink(0, fetched->second);
  const RoundState* state = known->second.rounds.Find(round);
  if (state != nullptr && state->results.has_value()) return state->results->Replay(sink);
  // They may have made room for an abstention from the next one.
  const Buffer parameters = replicas_.CopyIfStill(key, round.Next());
  if (!parameters.empty()) sink(0, parameters);
}

void RoundEngine::RegisterWeights(StepContext& step, KeyId key, Buffer weights) {
  const KeySlice& row = *policy_table_->FindKey(key);
  TensorMemory& memory = KeyOf(key).memory;
  BANYAN_CHECK(weights.elements() == row.elements);
  if (memory.has_optimizer() || !encodings_.Prunes(row)) return;
  // They count from now on, halves once they are widened; the worker's memory goes back once they are copied.
  const void* registered = IsHalf(row.type) ? nullptr : weights.data();
  if (registered != nullptr) memory.SetWeights(weights);
  std::vector<CheckedChunk> inputs = {PlainChunk(weights, 1)};
  auto work = std::make_unique<AccumulateChunk>(Buffer(), true, std::move(inputs), row.elements, DataType::kFloat32,
                                                computations_->device());
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
  GrantInputs(step);
  RoundState* state = FindRound(id.key, id.round);
  const bool is_current = state != nullptr && state->attempt.has_value() && state->binding->attempt == id.attempt &&
                          state->binding->slice->epoch == id.epoch;
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
  RoundState& state = *FindRound(id.key, id.round);
  ChunkMessage message =
      MakeChunkMessage(source_, parent, state, state.attempt->kind(), id.key, id.round, chunk, Half::kReduce, sum);
  message.result_ratio = result_ratio;
  message.cuts = state.attempt->CutsOf(chunk);
  if (CanBeCut(message) && encodings_.KeepsResidual(*policy_table_->FindKey(id.key)))
    state.sent.Keep(chunk, id.epoch, sum);
  Payload payload = sum.encoded().payload;
  if (script_ != nullptr) CutLast(script_->CutOf({id.key, id.round, chunk, Half::kReduce}), message, payload);
  Send(step, std::move(message), std::move(payload));
}

void RoundEngine::OnResultMade(StepContext& step, const AttemptId& id, ChunkIndex chunk, CheckedChunk result) {
  RoundState& state = *FindRound(id.key, id.round);
  TakeResult(step, id.key, id.round, state, chunk, {id.epoch, std::move(result), state.attempt->CutsOf(chunk)},
             ResultPassing::From::kMade);
}

void RoundEngine::OnAllRead(StepContext& step, KeyId key, Round round, uint64_t hash) {
  RoundState& state = *FindRound(key, round);
  state.is_read = true;
  state.hash = hash;
  KeyOf(key).fetched.reset();
  CompleteIfReturned(step, key, round, state);
}

void RoundEngine::CompleteIfReturned(StepContext& step, KeyId key, Round round, const RoundState& state) {
  if (!state.is_read || state.complete || state.returning > 0) return;
  if (script_ != nullptr && !script_->MayComplete(key, round)) return;
  refused_.erase(refused_.lower_bound({key, NodeId()}), refused_.lower_bound({key.Next(), NodeId()}));
  KeyOf(key).rounds.Complete(round, state.hash);
  listener_->OnRoundComplete(step, key, round, state.hash);
  for (const Round held : KeyOf(key).rounds.Held(config_.rounds_in_flight)) OnClosedEverywhere(step, key, held);
  TryOpen(step, key);
}

std::vector<NodeReport::Memory> RoundEngine::MemoryReport() const {
  std::vector<NodeReport::Memory> memory = MemoryOf(keys_);
  memory.push_back({"waiting inputs", static_cast<uint64_t>(waiting_bytes_)});
  memory.push_back({"early", static_cast<uint64_t>(early_.size_bytes())});
  return memory;
}

}  // namespace banyan
