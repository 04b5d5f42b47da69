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
#include "proto/fields.h"

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

template <typename Visitor>
void Fields(Visitor& v, StateShape::Part& m) {
  v(1, "name", m.name, kName);
  v(2, "size_bytes", m.size_bytes);
}

// Consecutive keys, and the last round of each of them that a worker has pushed.
struct KeysPushed {
  KeyId first_key;
  KeyId last_key;  // inclusive
  Round round;
  friend bool operator==(const KeysPushed&, const KeysPushed&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, KeysPushed& m) {
  v(1, "first_key", m.first_key, kNonZero);
  v(2, "last_key", m.last_key, kNonZero);
  v(3, "round", m.round);
}

template <typename Visitor>
void PushedField(Visitor& v, int number, std::vector<KeysPushed>& pushed) {
  v(number, "pushed", pushed);
  v.Check([&pushed](FieldReader& fields) { CheckRisingKeys(fields, "pushed", pushed); });
}

// ---- between nodes and the scheduler ----

// Node to scheduler: a worker of it asks for the state. Said again on each new connection until StateReleased answers.
// Or the node lacks replicas: then StateHolders answers at once, and names all other members.
struct StateWanted {
  uint64_t fetch = 0;  // rises with each call of the joiner; what answers it says it again
  bool of_replica = false;
  friend bool operator==(const StateWanted&, const StateWanted&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateWanted& m) {
  v(1, "fetch", m.fetch);
  v(2, "of_replica", m.of_replica);
}

// To every member: hold your workers at their next boundary.
struct StateSought {
  Term term;
  TransferId transfer;
  std::string reason;  // for whom
  friend bool operator==(const StateSought&, const StateSought&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateSought& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "transfer", m.transfer, kNonZero);
  v(3, "reason", m.reason, kReason);
}

// Node to scheduler: a worker is held, and its state is that after `step`.
struct BoundaryHeld {
  TransferId transfer;
  uint64_t step = 0;
  std::vector<KeysPushed> pushed;  // in rising order of keys
  friend bool operator==(const BoundaryHeld&, const BoundaryHeld&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, BoundaryHeld& m) {
  v(1, "transfer", m.transfer, kNonZero);
  v(2, "step", m.step);
  PushedField(v, 3, m.pushed);
}

// Node to scheduler: none of its workers has a state to give, or none has any more.
struct NoState {
  TransferId transfer;
  std::string reason;
  bool had_state = false;  // a worker of it had one at a boundary that it has left: a new fetch may get a later one
  friend bool operator==(const NoState&, const NoState&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, NoState& m) {
  v(1, "transfer", m.transfer, kNonZero);
  v(2, "reason", m.reason, kReason);
  v(3, "had_state", m.had_state);
}

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

template <typename Visitor>
void Fields(Visitor& v, StateHolders& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "transfer", m.transfer, kNonZero);
  v(3, "step", m.step);
  PushedField(v, 4, m.pushed);
  v.List(5, "paths", m.paths, [](auto& within, std::vector<NodeId>& path) {
    // From the joiner to a holder, which may be the joiner.
    within(1, "nodes", path, Entries{1, within.limits().max_path_nodes}, kNonZero);
    within.Check([&path](FieldReader& fields) {
      fields.Expect(!HasRepetition(path), "nodes", "each node once", "a node twice");
    });
  });
  v(6, "fetch", m.fetch);
}

// Joiner to scheduler: its workers have the state, or they need it no more.
struct FetchEnded {
  TransferId transfer;  // 0: of none yet
  uint64_t fetch = 0;
  bool has_state = false;
  std::string reason;  // why not
  friend bool operator==(const FetchEnded&, const FetchEnded&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, FetchEnded& m) {
  v(1, "transfer", m.transfer);
  v(2, "has_state", m.has_state);
  v(3, "reason", m.reason, kReason);
  v(4, "fetch", m.fetch);
}

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

template <typename Visitor>
void Fields(Visitor& v, StateReleased& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "transfer", m.transfer);
  v(3, "code", m.code, Range{absl::StatusCode::kOk, absl::StatusCode::kUnauthenticated});
  v(4, "reason", m.reason, kReason);
  v(5, "fetch", m.fetch);
}

// ---- between a joiner and a holder, over relays where they are no neighbours ----

struct StateManifestWanted {
  SourceRoute route;
  TransferId transfer;
  std::vector<KeysPushed> replica = {};  // of these keys after these rounds; empty: the state of workers
  friend bool operator==(const StateManifestWanted&, const StateManifestWanted&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateManifestWanted& m) {
  v(1, "route", m.route);
  v(2, "transfer", m.transfer, kNonZero);
  PushedField(v, 3, m.replica);
}

struct StateManifest {
  SourceRoute route;
  TransferId transfer;
  StateShape shape;
  std::vector<uint64_t> hashes;  // XXH3 of each chunk, as StateLayout cuts them
  friend bool operator==(const StateManifest&, const StateManifest&) = default;
};

// Refuses parts that are not sorted, or too large together.
void CheckShape(const StateShape& shape, FieldReader& fields);
// Returns how many hashes a state of this shape has, one for each chunk.
int HashesOf(const StateShape& shape);

template <typename Visitor>
void Fields(Visitor& v, StateManifest& m) {
  v(1, "route", m.route);
  v(2, "transfer", m.transfer, kNonZero);
  v(3, "parts", m.shape.parts);
  v.Check([&m](FieldReader& fields) { CheckShape(m.shape, fields); });
  const int chunks = HashesOf(m.shape);
  v(4, "hashes", Fixed(m.hashes), Entries{chunks, chunks});
}

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

// Refuses runs of chunks that do not rise, overlap, or are of no state.
void CheckRuns(const std::vector<StateRequest::Run>& chunks, FieldReader& fields);

template <typename Visitor>
void Fields(Visitor& v, StateRequest::Run& m) {
  v(1, "first", m.first);
  v(2, "last", m.last);
}

template <typename Visitor>
void Fields(Visitor& v, StateRequest& m) {
  v(1, "route", m.route);
  v(2, "transfer", m.transfer, kNonZero);
  v(3, "attempt", m.attempt);
  v(4, "chunks", m.chunks);
  v.Check([&m](FieldReader& fields) { CheckRuns(m.chunks, fields); });
  PushedField(v, 5, m.replica);
}

// Holder to joiner: it has no state of this transfer, or none any more.
struct StateRefused {
  SourceRoute route;
  TransferId transfer;
  std::string reason;
  friend bool operator==(const StateRefused&, const StateRefused&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateRefused& m) {
  v(1, "route", m.route);
  v(2, "transfer", m.transfer, kNonZero);
  v(3, "reason", m.reason, kReason);
}

// Returns the id of a chunk of the state on its way, which belongs to no key. Its sender gives it its epoch, so that
// relays do not take it for stale.
inline ChunkId StateChunkId(TransferId transfer, Attempt attempt, ChunkIndex chunk) {
  return {Epoch(), attempt, Round(transfer.value()), KeyId(), chunk, Half::kState};
}
inline TransferId TransferOf(const ChunkId& id) { return TransferId(id.round.value()); }

}  // namespace banyan

#endif  // BANYAN_PROTO_STATE_MESSAGES_H_
