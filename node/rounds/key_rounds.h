// The rounds of one key at one node, from the first that is heard of a round until nobody asks for its result any more.
// Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - Rounds complete, and close, in any order; next_complete() and next_closed() are the first that have not.
// - A member contributes to a round only once it holds all results of the rounds rounds_in_flight and more before. So
//   the result of a round proves that every member holds these: they are *held*, and no scheduler needs to say so.
// - A contribution's values go when the round is complete here: the result takes its place in every later attempt.
// - The newest result stays for a Pull that comes late, until a later round opens.
#ifndef BANYAN_NODE_ROUNDS_KEY_ROUNDS_H_
#define BANYAN_NODE_ROUNDS_KEY_ROUNDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/policy_table.h"
#include "node/rounds/broadcast_half.h"
#include "node/rounds/next_residuals.h"
#include "node/rounds/reduce_half.h"
#include "node/votes/open_votes.h"
#include "proto/chunk_message.h"
#include "proto/half.h"

namespace banyan {

// What this node has sent up in one round and queues may have cut, until the result says what was taken of it. Each
// attempt has its own. Thread-compatible; owned by RoundState.
//
// Invariants:
// - Of a chunk at most one is ever taken: that of the epoch in which the chunk's one result was made.
class SentSums {
 public:
  // Keeps what was sent of the chunk in an attempt of `epoch`.
  void Keep(ChunkIndex chunk, Epoch epoch, CheckedChunk sum) { sums_.insert_or_assign({chunk, epoch}, std::move(sum)); }
  // The chunk's result, `made_in` an epoch, is held here: forgets the chunk, and returns what was sent in that epoch.
  std::optional<CheckedChunk> Take(ChunkIndex chunk, Epoch made_in) {
    std::optional<CheckedChunk> taken;
    auto sum = sums_.lower_bound({chunk, Epoch()});
    while (sum != sums_.end() && sum->first.first == chunk) {
      if (sum->first.second == made_in) taken = std::move(sum->second);
      sum = sums_.erase(sum);
    }
    return taken;
  }

  int64_t size_bytes() const {
    int64_t bytes = 0;
    for (const auto& [id, sum] : sums_) bytes += sum.payload_bytes();
    return bytes;
  }

 private:
  std::map<std::pair<ChunkIndex, Epoch>, CheckedChunk> sums_;
};

// Where the results of one round go from this node within one attempt. A result that was made in an earlier epoch goes
// up the reduce half in place of a sum, and so reaches the root. Every result goes down the broadcast half from there.
// Thread-compatible; owned by RoundState, one for each attempt.
//
// Invariants:
// - Of each chunk at most one message goes up in an attempt: the sum or the result.
// - Each child in the broadcast half gets the result once in an attempt, also when it was passed on in an earlier one:
//   trees change, and some member may not hold it yet.
class ResultPassing {
 public:
  // How a result comes to be here.
  enum class From : uint8_t {
    kHeld,    // since an earlier attempt
    kChild,   // a child in the reduce half has sent it up
    kParent,  // the parent in the broadcast half has sent it down
    kMade     // by this node, which is the root
  };
  struct Hop {
    NodeId to;
    Half half = Half::kReduce;
    friend bool operator==(const Hop&, const Hop&) = default;
  };

  // `attempt` outlives this.
  explicit ResultPassing(const ReduceHalf* attempt) : attempt_(attempt), chunks_(attempt->chunks()) {}

  // Returns where the chunk's result has to go now. REQUIRES: `has_passed_up` says whether this node's sum has left.
  std::vector<Hop> OnResult(ChunkIndex chunk, From from, bool has_passed_up);

 private:
  struct Chunk {
    bool went_up = false;
    bool went_down = false;
  };

  const ReduceHalf* attempt_;
  std::vector<Chunk> chunks_;
};

// What this node puts into a round: the sum of its workers, or nothing.
struct Contribution {
  RoundKind kind = RoundKind::kAggregate;
  Buffer values;        // the whole tensor; empty when this node has nothing to say
  uint32_t weight = 0;  // workers in it
  int32_t priority = 0;
  // Instead of values where rounds may be low-bit: of each worker its own, for each is a voter.
  std::vector<Buffer> parts = {};

  bool has_values() const { return !values.empty() || !parts.empty(); }
  int64_t size_bytes() const;
  // Returns the parts, or else the values, if there are any.
  std::vector<Buffer> Parts() const;
  std::vector<Buffer> TakeParts();
  // Forgets them.
  void Drop() { TakeParts(); }
};

// A chunk's one result, as it travels.
struct ChunkResult {
  Epoch made_in;
  CheckedChunk chunk;
  std::vector<Cut> cuts;  // of the contributions that are in it
};

struct RoundState {
  std::optional<PolicyTable::Binding> binding;
  std::optional<Contribution> contribution;
  std::optional<RoundKind> kind;  // as the first to speak of it had it, and not to abstain
  NodeId kind_said_by;            // the first to speak of it
  // Whose chunks were refused, and why. Nobody who keeps the rules is in it.
  std::set<std::pair<NodeId, std::string>> refusals;
  bool open = false;           // this node's contribution has gone into the attempt
  bool is_late = false;        // the attempt has counted an abstention in its place
  bool is_taken_back = false;  // this node had abstained, and has put nothing else in since
  bool complete = false;
  bool closed_everywhere = false;  // every member holds the result
  bool is_skipped = false;         // closed everywhere before this node was a member
  uint64_t hash = 0;               // of the result, once complete
  bool is_read = false;            // all of the result, which has `hash`
  NextResiduals residuals;
  SentSums sent;
  OpenVotes votes;
  std::map<ChunkIndex, std::vector<Cut>> cuts;  // of the results that are here, where there are any
  // Computations under way on what chunks lack of this node's part: it is not in the residuals yet.
  uint32_t returning = 0;
  // Once bound. The attempt goes with its epoch.
  std::optional<ReduceHalf> attempt;
  std::optional<ResultPassing> passing;
  std::optional<BroadcastHalf> results;

  // Forgets what belongs to the attempt. What this node has put in, and what it holds of the result, stays.
  void DropAttempt();
  bool abstains() const { return contribution.has_value() && contribution->kind == RoundKind::kAbstention; }
};

class KeyRounds {
 public:
  // Null for a round that nothing was heard of, or that is gone.
  RoundState* Find(Round round);
  const RoundState* Find(Round round) const;
  RoundState& FindOrAdd(Round round) { return rounds_[round]; }
  const std::map<Round, RoundState>& all() const { return rounds_; }
  std::map<Round, RoundState>& all() { return rounds_; }

  // Returns whether the round is complete here, and kept.
  bool IsComplete(Round round) const;
  Round next_complete() const { return next_complete_; }
  Round next_closed() const { return next_closed_; }
  // Returns the first round from which on nothing here has come of any policy: no attempt, no result.
  Round first_not_begun() const;
  // True if no member that keeps the rules can be in that round yet.
  bool IsTooFar(Round round, uint64_t rounds_in_flight) const;
  // True if the earlier rounds leave room to open this one.
  bool HasRoomFor(Round round, uint64_t rounds_in_flight) const;
  // True if this node has contributed to a round that is kept.
  bool HasContribution() const;
  // True if this node abstains from a round that is not complete here, or has done so in the attempt under way.
  bool HasAbstention() const;
  // True if this node has values of a broadcast that is not complete here.
  bool HasBroadcastValues() const;
  // True if every round that this node takes part in is closed everywhere. A round from which it abstains waits for
  // others.
  bool IsIdle() const;

  // All of the round's result was read, and has this `hash`. REQUIRES: the round exists.
  void Complete(Round round, uint64_t hash = 0);
  // Returns the complete rounds that are not closed and that later ones prove to be held by every member, in order.
  std::vector<Round> Held(uint64_t rounds_in_flight) const;
  // Every member has the round's result: gives back results once earlier rounds are closed too. A new member would need
  // a later one before. Returns the last round up to which all are closed, if there are more of these now. Nothing
  // happens before the round is complete here.
  std::optional<Round> Close(Round round);
  // The round was over for all members before this node was one, though an earlier round is not: it has no result here.
  // Returns what Close does. Nothing happens in a round that is complete here, or to which this node has contributed.
  std::optional<Round> Skip(Round round);
  // Rounds before `first_open` are closed everywhere, whether or not this node took part in them. The later ones are
  // not, whatever was said of them: members have changed. Those that were skipped stay over.
  void Rebase(Round first_open);
  // Puts `contribution` in the place of an abstention from a round that is not complete. Attempts under way go on
  // without it. Returns whether there was one.
  bool Replace(Round round, Contribution contribution);
  // Takes back the abstentions from round `first` and later ones, as far as they are not complete.
  void TakeBackAbstentions(Round first);
  // Abstains again from rounds before `before` that were taken back.
  void RestoreAbstentions(Round before);
  // Takes back what was put into the round, and returns its parts; none when there is nothing, or it is complete.
  std::optional<std::vector<Buffer>> TakeBackContribution(Round round);
  // Forgets closed rounds that are followed by an open one.
  void DropOld();

 private:
  // Moves next_complete() on to the first round that is not.
  void AdvanceComplete();
  // Moves next_closed() on likewise. Returns the last round that it has passed, if any.
  std::optional<Round> AdvanceClosed();

  std::map<Round, RoundState> rounds_;
  Round last_complete_;
  Round next_complete_;
  Round next_closed_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_KEY_ROUNDS_H_
