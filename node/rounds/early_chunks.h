// Chunks that come before this node can place them: their key, their policy or their epoch is not known here yet. They
// are kept within a bound, and for the others their sources are told when it is worth while to try again.
// Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - The bound is that of the job, or as much as the model.
// - What is kept goes only to RoundEngine, or with its epoch, or when its key or its epoch has not come for so long
// that
//   there is none.
#ifndef BANYAN_NODE_ROUNDS_EARLY_CHUNKS_H_
#define BANYAN_NODE_ROUNDS_EARLY_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "node/early_store.h"
#include "node/peers/peer_network.h"
#include "node/policy_table.h"
#include "node/step_context.h"
#include "proto/job_config.h"

namespace banyan {

class EarlyChunks {
 public:
  // `policy_table` outlives this.
  EarlyChunks(const JobConfig& config, const PolicyTable* policy_table);

  // Makes room for a tensor of so many bytes.
  void Grow(int64_t grown_bytes);
  // Keeps a chunk; kNoRoom when there is none. `planned` is the last epoch whose plan is known.
  PeerNetwork::Verdict Keep(StepContext& step, Epoch planned, ChunkMessage message, Payload payload);
  // True if a round of the key for which there was no room has its policy by now.
  bool TakeDenied(KeyId key);
  std::vector<Round> RoundsOf(KeyId key) const { return store_.RoundsOf(key); }
  std::vector<EarlyStore::Chunk> Take(KeyId key, Round round) { return store_.Take(key, round); }
  // Drops the chunks of earlier epochs. Returns how many there were.
  size_t DropBefore(Epoch epoch) { return store_.DropBefore(epoch); }
  void Clear();

  int64_t capacity_bytes() const { return store_.capacity_bytes(); }
  int64_t size_bytes() const { return store_.size_bytes(); }

 private:
  const PolicyTable* policy_table_;
  int64_t chunk_max_elements_;
  absl::Duration unknown_for_;  // after so long no key and no epoch comes any more
  bool has_fixed_bound_;
  int64_t model_bytes_ = 0;
  EarlyStore store_;
  std::set<std::pair<KeyId, Round>> denied_;  // rounds of which chunks found no room
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_EARLY_CHUNKS_H_
