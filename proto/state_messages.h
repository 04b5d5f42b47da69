// Messages by which a worker that begins late gets the training state of the others. Training is held at one boundary
// between steps while it does: one such pause is a transfer. Values; thread-compatible.
//
// In the order in which they are sent: StateWanted of a joiner, StateSought to all members, BoundaryHeld or NoState of
// each, StateHolders to the joiners. Between a joiner and holders: StateManifestWanted and StateManifest, StateRequest
// and chunks of Half::kState, or StateRefused. At the end FetchEnded of each joiner, and StateReleased to all members.
#ifndef BANYAN_PROTO_STATE_MESSAGES_H_
#define BANYAN_PROTO_STATE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "proto/chunk_message.h"

namespace banyan {

// One pause of training in which joiners fetch the state; rises with each, also from one term to the next.
using TransferId = StrongId<struct TransferIdTag, uint64_t>;

// The ids from this one on are of transfers of replicas, between two nodes: each joiner numbers its own. What they give
// is what nodes hold themselves with a server-side optimizer.
inline constexpr TransferId kReplicaTransfers = TransferId(uint64_t{1} << 63);
inline bool IsOfReplica(TransferId transfer) { return transfer >= kReplicaTransfers; }

// What a training state is made of: named parts, one behind the other.
struct StateShape {
  struct Part {
    std::string name;
    int64_t size_bytes = 0;  // above 0
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;  // sorted by name, each name once

  int64_t total_bytes() const {
    int64_t total = 0;
    for (const Part& part : parts) total += part.size_bytes;
    return total;
  }
  friend bool operator==(const StateShape&, const StateShape&) = default;
};

// Consecutive keys, and the last round of each of them that a worker has pushed.
struct KeysPushed {
  KeyId first_key;
  KeyId last_key;  // inclusive
  Round round;
  friend bool operator==(const KeysPushed&, const KeysPushed&) = default;
};

// ---- between nodes and the scheduler ----

// Node to scheduler: a worker of it asks for the state. Said again on each new connection until StateReleased answers.
// Or the node lacks replicas: then StateHolders answers at once, and names all other members.
struct StateWanted {
  uint64_t fetch = 0;  // rises with each call of the joiner; what answers it says it again
  bool of_replica = false;
  friend bool operator==(const StateWanted&, const StateWanted&) = default;
};

// To every member: hold your workers at their next boundary.
struct StateSought {
  Term term;
  TransferId transfer;
  std::string reason;  // for whom
  friend bool operator==(const StateSought&, const StateSought&) = default;
};

// Node to scheduler: a worker is held, and its state is that after `step`.
struct BoundaryHeld {
  TransferId transfer;
  uint64_t step = 0;
  std::vector<KeysPushed> pushed;  // in rising order of keys
  friend bool operator==(const BoundaryHeld&, const BoundaryHeld&) = default;
};

// Node to scheduler: none of its workers has a state to give, or none has any more.
struct NoState {
  TransferId transfer;
  std::string reason;
  bool had_state = false;  // a worker of it had one at a boundary that it has left: a new fetch may get a later one
  friend bool operator==(const NoState&, const NoState&) = default;
};

// To joiners: who holds the state. Comes again when that changes; the last one counts.
struct StateHolders {
  Term term;
  TransferId transfer;
  uint64_t fetch = 0;
  uint64_t step = 0;
  std::vector<KeysPushed> pushed;          // as in BoundaryHeld: a joiner begins with the rounds after these
  std::vector<std::vector<NodeId>> paths;  // from the joiner to each holder; of one node where it is the joiner's own
  friend bool operator==(const StateHolders&, const StateHolders&) = default;
};

// Joiner to scheduler: its workers have the state, or they need it no more.
struct FetchEnded {
  TransferId transfer;  // 0: of none yet
  uint64_t fetch = 0;
  bool has_state = false;
  std::string reason;  // why not
  friend bool operator==(const FetchEnded&, const FetchEnded&) = default;
};

// OK, to every member: the transfer is over. It comes after the EpochPlan in which those who have the state take part,
// and names to each of them its fetch. Another code, to one joiner: why its fetch has not got the state.
struct StateReleased {
  Term term;
  TransferId transfer;  // 0: it was of none yet
  uint64_t fetch = 0;   // of a joiner that has the state, or with an error
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string reason;
  friend bool operator==(const StateReleased&, const StateReleased&) = default;
};

// ---- between a joiner and a holder, over relays where they are no neighbours ----

struct StateManifestWanted {
  SourceRoute route;
  TransferId transfer;
  std::vector<KeysPushed> replica = {};  // of these keys after these rounds; empty: the state of workers
  friend bool operator==(const StateManifestWanted&, const StateManifestWanted&) = default;
};

struct StateManifest {
  SourceRoute route;
  TransferId transfer;
  StateShape shape;
  std::vector<uint64_t> hashes;  // XXH3 of each chunk, as StateLayout cuts them
  friend bool operator==(const StateManifest&, const StateManifest&) = default;
};

// Asks a holder for chunks of the state.
struct StateRequest {
  struct Run {
    ChunkIndex first;
    ChunkIndex last;  // inclusive
    friend bool operator==(const Run&, const Run&) = default;
  };
  SourceRoute route;
  TransferId transfer;
  Attempt attempt;  // rises with each request of the joiner, and comes back in the chunks
  std::vector<Run> chunks;
  std::vector<KeysPushed> replica = {};  // as in StateManifestWanted
  friend bool operator==(const StateRequest&, const StateRequest&) = default;
};

// Holder to joiner: it has no state of this transfer, or none any more.
struct StateRefused {
  SourceRoute route;
  TransferId transfer;
  std::string reason;
  friend bool operator==(const StateRefused&, const StateRefused&) = default;
};

// Returns the id of a chunk of the state on its way, which belongs to no key. Its sender gives it its epoch, so that
// relays do not take it for stale.
inline ChunkId StateChunkId(TransferId transfer, Attempt attempt, ChunkIndex chunk) {
  return {Epoch(), attempt, Round(transfer.value()), KeyId(), chunk, Half::kState};
}
inline TransferId TransferOf(const ChunkId& id) { return TransferId(id.round.value()); }

}  // namespace banyan

#endif  // BANYAN_PROTO_STATE_MESSAGES_H_
