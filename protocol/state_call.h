// What a node's core and its workers say to each other about training states. A worker's state is in the worker's own
// memory: the driver reads and writes it chunk by chunk, as StateLayout cuts it. Values; thread-compatible.
//
// Invariants:
// - A worker shares one state, once, before it waits at a boundary or fetches.
// - Each ReadState is answered by one WorkerStateRead and each WriteState by one WorkerStateWritten, unless the worker
//   detaches before.
#ifndef BANYAN_PROTOCOL_STATE_CALL_H_
#define BANYAN_PROTOCOL_STATE_CALL_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "absl/time/time.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "proto/state_messages.h"

namespace banyan {

// ---- from workers ----

// Names the worker's state. Completed at once. Without parts it says that the worker needs none of others: it begins
// with what it has.
struct WorkerShareState {
  RequestId request;
  WorkerId worker;
  StateShape shape;
};

// The worker waits at a boundary with the state after `step`. Completed when it may go on.
struct WorkerPassBoundary {
  RequestId request;
  WorkerId worker;
  uint64_t step = 0;
};

// The worker waits at its boundary no longer; its state changes from now on.
struct WorkerLeaveBoundary {
  WorkerId worker;
};

// Completed when all of the state is in the worker's memory, with the step after which it is; or with an error, at the
// latest after about `timeout`.
struct WorkerFetchState {
  RequestId request;
  WorkerId worker;
  absl::Duration timeout = absl::InfiniteDuration();
};

// Answers ReadState. `bytes` is empty when the worker does not wait at its boundary any more.
struct WorkerStateRead {
  WorkerId worker;
  std::optional<ChunkIndex> chunk;
  Buffer bytes;
};

// Answers WriteState.
struct WorkerStateWritten {
  WorkerId worker;
  ChunkIndex chunk;
  bool is_written = true;  // false when the worker fetches no state any more
};

using StateCall = std::variant<WorkerShareState, WorkerPassBoundary, WorkerLeaveBoundary, WorkerFetchState,
                               WorkerStateRead, WorkerStateWritten>;

// ---- to workers ----

// From now on workers that share a state wait at their boundaries, or pass them without a word.
struct HoldWorkers {
  bool is_held = false;
};

// Read a chunk of the state, or the hashes of all chunks, of a worker that waits at a boundary.
struct ReadState {
  WorkerId worker;
  std::optional<ChunkIndex> chunk;  // none: the hashes, uint64 in the machine's order
};

// Write a chunk of the state into the memory of a worker that fetches.
struct WriteState {
  WorkerId worker;
  ChunkIndex chunk;
  Buffer bytes;
};

using StateTask = std::variant<HoldWorkers, ReadState, WriteState>;

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_STATE_CALL_H_
