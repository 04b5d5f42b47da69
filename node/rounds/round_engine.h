// The rounds of every key at one node: which are open, under which policy, and what comes early or late. Each bound
// round has a ReduceHalf (the way up, one for each attempt) and a BroadcastHalf (the way down); this joins them with
// the neighbours. Thread-compatible; owned by NodeCore, which outlives it as its listener.
//
// Invariants:
// - A round is *open* here once its policy is known, this node's contribution is there, and earlier rounds leave room
//   (rounds_in_flight).
// - Children may be ahead: their chunks are summed once the policy is known, and kept within a bound before. So are
//   chunks of an epoch whose plan has not come; what is of an earlier epoch is acknowledged and dropped.
// - A result of an earlier epoch that any member holds wins over every sum: it goes up in place of one.
// - Inputs that wait to be added are bounded. One for each chunk always has room, so that no round is held up.
// - A chunk that is refused would be sent again for ever: a round that refuses the same twice is broken, and so is one
//   whose chunk turns out to be wrong after it was acknowledged, or stays too far ahead for lost_after. Who waits for a
//   round hears of a chunk that is refused.
// - What outlives an attempt (contribution, results) is in RoundState, what outlives a round in TensorMemory, and what
//   belongs to an attempt in its ReduceHalf, alone.
#ifndef BANYAN_NODE_ROUNDS_ROUND_ENGINE_H_
#define BANYAN_NODE_ROUNDS_ROUND_ENGINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/computation_table.h"
#include "node/early_store.h"
#include "node/peers/peer_network.h"
#include "node/policy_table.h"
#include "node/rounds/broadcast_half.h"
#include "node/rounds/chunk_rules.h"
#include "node/rounds/early_chunks.h"
#include "node/rounds/encoding_chooser.h"
#include "node/rounds/key_rounds.h"
#include "node/rounds/reduce_half.h"
#include "node/rounds/replicas.h"
#include "node/rounds/round_reports.h"
#include "node/rounds/round_script.h"
#include "node/rounds/silent_rounds.h"
#include "node/rounds/tensor_memory.h"
#include "node/step_context.h"
#include "node/votes/route_rules.h"
#include "proto/chunk_message.h"
#include "proto/job_config.h"
#include "proto/precision/key_routes.h"
#include "proto/precision/precision_report.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// Counts the payload of gradients and results that this node has sent, beside what floats would have taken.
// Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - A chunk counts when it is handed to the network: what that sends again counts once.
class SentTraffic {
 public:
  // Broadcasts and flushes are none of it.
  void Count(const ChunkMessage& message, const Payload& payload) {
    if (message.kind != RoundKind::kAggregate) return;
    Count(message, payload, all_);
    if (message.precision == PrecisionRoute::kLowBit) Count(message, payload, low_bit_);
  }
  void AddTo(PrecisionReport& report) const {
    report.all = all_;
    report.low_bit = low_bit_;
  }

 private:
  static void Count(const ChunkMessage& message, const Payload& payload, PrecisionReport::Traffic& traffic) {
    for (const Buffer& frame : payload) traffic.sent_bytes += static_cast<uint64_t>(frame.size_bytes());
    traffic.full_bytes += static_cast<uint64_t>(message.elements) * sizeof(float);
  }

  PrecisionReport::Traffic all_;
  PrecisionReport::Traffic low_bit_;
};

class RoundEngine : private ReduceHalf::Owner, private BroadcastHalf::Owner {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // A part of the values that workers get is there.
    virtual void OnValues(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) = 0;
    // All parts were given; `hash` is over the whole result and the same on every member.
    virtual void OnRoundComplete(StepContext& step, KeyId key, Round round, uint64_t hash) = 0;
    // The round's policy is needed, and may have been asked for before; AddBinding and OnBookChanged follow.
    virtual void OnPolicyWanted(StepContext& step, KeyId key, Round round) = 0;
    // The round can never finish, for this `reason`. `culprit` is the other member whose part breaks a rule; 0 when it
    // is no single node's doing.
    virtual void OnRoundBroken(StepContext& step, KeyId key, Round round, NodeId culprit,
                               const std::string& reason) = 0;
  };

  // The pointers outlive this; `script` may be null.
  RoundEngine(NodeId self, Incarnation incarnation, const JobConfig& config, PolicyTable* policy_table,
              PeerNetwork* network, ComputationTable* computations, Listener* listener, RoundScript* script);
  RoundEngine(const RoundEngine&) = delete;
  RoundEngine& operator=(const RoundEngine&) = delete;

  // Puts this node's contribution into a round; into one that is over for all members, nothing. REQUIRES: the key is in
  // the policy table and its round has no contribution yet.
  void Contribute(StepContext& step, KeyId key, Round round, Contribution contribution);
  // Takes the initial values of a worker that has come after this node abstained from round 0. The job must not begin
  // from nothing: they are its values if nobody else has any.
  void OfferValues(StepContext& step, KeyId key, Buffer values);
  // Contributes an abstention to each round of the key from `from` on and before `before`, as soon as there is room for
  // it. A key from which this node abstains already gets the new limit alone. REQUIRES: the key is in the policy table
  // and these rounds have no contribution yet.
  void Abstain(StepContext& step, KeyId key, Round from, Round before = Abstention::kNoLimit);
  // Limits that to rounds before `before`. What this node has abstained from beyond is taken back: attempts under way
  // go on with it, and those of the next epoch wait for a contribution, or until it is restored.
  void LimitAbstention(KeyId key, Round before);
  // Abstains again from rounds before `before` that were taken back and have no contribution.
  void RestoreAbstentions(StepContext& step, KeyId key, Round before);
  // A contribution to the round is being summed: an abstention that was taken back is not restored.
  void OnContributing(KeyId key, Round round) {
    if (RoundState* state = FindRound(key, round)) state->is_taken_back = false;
  }
  // Takes back what this node has put into a round, and returns its values; none when there is nothing, or the round is
  // complete. The attempt under way goes on with it, and one of the next epoch waits for another contribution.
  std::optional<std::vector<Buffer>> TakeBackContribution(KeyId key, Round round) {
    const auto known = keys_.find(key);
    return known == keys_.end() ? std::nullopt : known->second.rounds.TakeBackContribution(round);
  }
  // Ends it now. Returns the first round without a contribution; nullopt if this node does not abstain from the key.
  std::optional<Round> EndAbstention(KeyId key) {
    const auto known = keys_.find(key);
    return known == keys_.end() ? std::nullopt : known->second.abstention.End();
  }

  // The first epoch begins, with this node as a member.
  void BeginFirstEpoch(Epoch epoch) { epoch_ = planned_ = epoch; }
  // The former epoch is over: drops all attempts. What this node has put in and what it holds of results stays.
  void BeginEpoch(Epoch epoch);
  // Goes on as the plan of the epoch says, whose bindings are in the policy table. A node that `is_fresh` has joined
  // with it, and lacks the replicas of what has been trained.
  void UsePlan(StepContext& step, const EpochPlan& plan, bool is_fresh);
  // Returns how far this node is with each key for which `counts` is true.
  std::vector<EpochReport::Progress> Progress(absl::FunctionRef<bool(KeyId)> counts) const {
    return ProgressOf(keys_, policy_table_->keys(), counts);
  }
  // Returns whether all rounds of the key up to this one are complete here.
  bool HasCompleted(KeyId key, Round round) const {
    const auto known = keys_.find(key);
    return known != keys_.end() && round < known->second.rounds.next_complete();
  }
  // Returns whether all rounds of the key up to this one are closed everywhere.
  bool IsClosed(KeyId key, Round round) const {
    const auto known = keys_.find(key);
    return known != keys_.end() && round < known->second.rounds.next_closed();
  }
  // Returns the first round of the key that this node has not begun under any policy.
  Round FirstNotBegun(KeyId key) const {
    const auto known = keys_.find(key);
    return known == keys_.end() ? Round(0) : known->second.rounds.first_not_begun();
  }
  // Returns whether this node abstains from a key, or from a round that is not complete here.
  bool IsAbstaining() const { return banyan::IsAbstaining(keys_); }
  // Returns whether this node has values of a broadcast that is not complete here.
  bool HasBroadcastValues() const { return banyan::HasBroadcastValues(keys_); }
  // Returns whether this node has put anything into a round of the key.
  bool HasContributed(KeyId key) const {
    const auto known = keys_.find(key);
    return known != keys_.end() && known->second.rounds.HasContribution();
  }
  // Returns the rounds that are complete here and not closed everywhere.
  std::vector<RoundsClosed::Entry> CompleteRounds() const { return CompleteRoundsOf(keys_); }

  PeerNetwork::Verdict OnChunk(StepContext& step, ChunkMessage message, Payload payload) {
    return TakeChunk(step, std::move(message), std::move(payload), /*was_kept=*/false);
  }
  // Rows or bindings of these `keys`, which are in the policy table, are new: opens what waited for them and takes
  // their early chunks up. Looks at no other key: a model may have many.
  void OnBookChanged(StepContext& step, const std::vector<KeyId>& keys);
  // Every member holds the round's result. The scheduler says so of the last rounds; of others later results do.
  void OnClosedEverywhere(StepContext& step, KeyId key, Round round);
  // Takes the key's weights as they are now, by which gradients are pruned from here on; forgets them where nothing is
  // pruned, or where the node has them itself. REQUIRES: the key is in the policy table, with as many elements.
  void RegisterWeights(StepContext& step, KeyId key, Buffer weights);
  // Gives every part of the result that is there to `sink`: all of it from its completion until the next round opens.
  void Replay(KeyId key, Round round, const BroadcastHalf::Sink& sink) const;
  // A round is over on these links: the ratios of the next follow.
  void ObserveLinks(const std::vector<LinkRoom::Observation>& links) { encodings_.Observe(links); }
  // The script may let the round be over now.
  void CompleteIfAllowed(StepContext& step, KeyId key, Round round) {
    if (const RoundState* const state = FindRound(key, round)) CompleteIfReturned(step, key, round, *state);
  }
  // Forgets every round: the job has failed.
  void Clear() {
    keys_.clear();
    early_.Clear();
    silent_.Clear();
    refused_.clear();
  }
  // True if every round that this node took part in is closed everywhere.
  bool IsIdle() const { return banyan::IsIdle(keys_); }

  // Ends rounds from which all members abstain, when it is time.
  void OnDeadline(StepContext& step);
  Timestamp NextDeadline() const { return silent_.NextDeadline(); }
  // What an optimizer keeps of the keys, which other members may need. A key whose replica has come is to be told as
  // one of OnBookChanged.
  Replicas& replicas() { return replicas_; }
  const Replicas& replicas() const { return replicas_; }
  // Returns how many chunks of earlier epochs have come.
  uint64_t stale_chunks() const { return stale_chunks_; }
  // Adds what was sent and refused by the routes of rounds.
  void AddTo(NodeReport& report) const {
    report.route_violations = routes_.violations();
    computations_->AddTo(report.precision);
    sent_.AddTo(report.precision);
  }

  std::vector<NodeReport::Memory> MemoryReport() const;
  // Says which chunk of the key was refused, and will come again; empty when none was since its last result.
  std::string WhyRefused(KeyId key) const;

 private:
  // ReduceHalf::Owner, BroadcastHalf::Owner.
  ReduceHalf* FindReduceHalf(StepContext& step, const AttemptId& id) override;
  void OnSum(StepContext& step, const AttemptId& id, ChunkIndex chunk, NodeId parent, const CheckedChunk& sum,
             double result_ratio) override;
  void OnResultMade(StepContext& step, const AttemptId& id, ChunkIndex chunk, CheckedChunk result) override;
  void OnSumBroken(StepContext& step, const AttemptId& id, NodeId culprit, const std::string& reason) override {
    listener_->OnRoundBroken(step, id.key, id.round, culprit, reason);
  }
  void OnNobodySpoke(StepContext& step, const AttemptId& id, ChunkIndex chunk) override {
    silent_.Add(id, chunk, step.now);
  }
  BroadcastHalf* FindBroadcastHalf(StepContext& step, KeyId key, Round round) override;
  void OnRead(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) override {
    listener_->OnValues(step, key, round, first_element, values);
  }
  void OnAllRead(StepContext& step, KeyId key, Round round, uint64_t hash) override;

  // Sends a chunk of this node, and counts it.
  void Send(StepContext& step, ChunkMessage message, Payload payload) {
    sent_.Count(message, payload);
    network_->SendChunk(step, std::move(message), std::move(payload));
  }
  // The chunk's result, made in an epoch, is held here for the first time: what queues have cut of this node's part
  // comes back, and what its votes have left out.
  void ReturnCuts(StepContext& step, KeyId key, Round round, RoundState& state, ChunkIndex chunk, Epoch made_in,
                  std::vector<Cut> cuts);
  void SettleVotesOf(StepContext& step, KeyId key, Round round, RoundState& state, ChunkIndex chunk, Epoch made_in,
                     const CheckedChunk& result);
  // Has `add` put into the key's memory what has come back.
  void OnReturned(StepContext& step, KeyId key, Round round, absl::FunctionRef<void(TensorMemory&)> add);
  // Completes a round once all of its result was read and all that it lacks of this node's part has come back.
  void CompleteIfReturned(StepContext& step, KeyId key, Round round, const RoundState& state);
  // REQUIRES: the key is in the policy table.
  KeyState& KeyOf(KeyId key);
  RoundState* FindRound(KeyId key, Round round);
  // Binds the round when its policy is known; null otherwise.
  RoundState* Bound(StepContext& step, KeyId key, Round round);
  void TryOpen(StepContext& step, KeyId key);
  void Open(StepContext& step, KeyId key, Round round, RoundState& state);
  // Contributes the abstentions for which there is room.
  void TakeAbstentions(StepContext& step, KeyId key, KeyState& of_key);
  void TakeEarly(StepContext& step, KeyId key);
  // Takes a chunk; one that was `kept` is acknowledged, so that it must find room.
  PeerNetwork::Verdict TakeChunk(StepContext& step, ChunkMessage message, Payload payload, bool was_kept);
  // False, and the round is broken, when members disagree on the kind of the round.
  bool AgreesOnKind(StepContext& step, KeyId key, Round round, RoundState& state, RoundKind kind, NodeId said_by);
  // Counts a chunk that is refused, and says `why`.
  PeerNetwork::Verdict Refuse(StepContext& step, const ChunkMessage& message, const std::string& why);
  // The same for a chunk that may be taken when it comes again. Returns whether the same has been refused for
  // lost_after.
  bool NoteRefused(StepContext& step, const ChunkMessage& message, const std::string& why);
  // The same for a chunk of a round that this node waits for. Breaks the round when the same was refused before, or so
  // much that it never ends.
  PeerNetwork::Verdict Refuse(StepContext& step, RoundState& state, const ChunkMessage& message,
                              const std::string& why);
  // Takes up one chunk of the early store. Breaks its round if it is refused: its source believes it to be delivered.
  void TakeEarly(StepContext& step, EarlyStore::Chunk chunk);
  PeerNetwork::Verdict OnContribution(StepContext& step, RoundState& state, ChunkMessage message, Payload payload);
  PeerNetwork::Verdict OnResult(StepContext& step, RoundState& state, ChunkMessage message, Payload payload);
  // Passes a result on as the attempt asks, and reads it unless that was done.
  void TakeResult(StepContext& step, KeyId key, Round round, RoundState& state, ChunkIndex chunk, ChunkResult result,
                  ResultPassing::From from);
  // Passes on what is held of a round since an earlier attempt.
  void PassOnHeld(StepContext& step, KeyId key, Round round, RoundState& state);
  // Tells sources whose inputs found no room when there is room again.
  void GrantInputs(StepContext& step);
  // In a fixed order, grants the input of chunk `id` that comes after those that are counted.
  void GrantNext(StepContext& step, const ChunkId& id);
  // Counts a computation that has finished when its round or attempt, `what`, was gone.
  static void CountLate(StepContext& step, KeyId key, Round round, const std::string& what);

  NodeId self_;
  ChunkSource source_;
  JobConfig config_;
  PolicyTable* policy_table_;
  PeerNetwork* network_;
  ComputationTable* computations_;
  Listener* listener_;
  ChunkRules rules_;
  RouteRules routes_;
  SentTraffic sent_;
  Epoch epoch_;                     // that has begun last
  Epoch planned_;                   // whose plan is known
  int64_t waiting_bytes_ = 0;       // of inputs that no computation adds yet; attempts count it
  bool has_denied_inputs_ = false;  // for want of room for more
  uint64_t stale_chunks_ = 0;
  struct Refused {
    Timestamp since;
    std::string what;
  };
  std::map<std::pair<KeyId, NodeId>, Refused> refused_;  // the last one of each source, since the key's last result
  KeyStates keys_;
  Replicas replicas_{&keys_};
  EncodingChooser encodings_;
  EarlyChunks early_;
  SilentRounds silent_;
  RoundScript* script_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_ROUND_ENGINE_H_
