// Cuts the chunks that leave this node's queues, its own and those that it forwards, as the job's policy says.
// Thread-compatible; owned by PeerNetwork, used by its links and its relay.
#ifndef BANYAN_NODE_TRIM_TRIMMER_H_
#define BANYAN_NODE_TRIM_TRIMMER_H_

#include <cstdint>
#include <memory>

#include "core/buffer.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/trim/round_pace.h"
#include "node/trim/trim_policy.h"
#include "proto/chunk_message.h"
#include "proto/trimming_config.h"

namespace banyan {

class Trimmer {
 public:
  Trimmer(const TrimmingConfig& config, NodeId self)
      : is_on_(config.policy != TrimPolicyKind::kOff), policy_(MakeTrimPolicy(config, self)) {}

  // A chunk is to be sent, or to be forwarded.
  void OnChunk(const ChunkMessage& message, Timestamp now);
  // A round of some key is complete here.
  void OnRoundComplete(Round round, Timestamp now) { pace_.OnComplete(round, now); }

  // Cuts a chunk that leaves its queue, in which `waiting_bytes` are behind it. Returns whether it did.
  bool Cut(Timestamp now, int64_t waiting_bytes, ChunkMessage& message, Payload& payload) const;
  // Returns how many bytes of a result in levels that leaves such a queue are more than the link carries in time.
  int64_t ExcessBytes(Timestamp now, int64_t waiting_bytes, const ChunkMessage& message) const;
  // Cuts a chunk for which there is no room to its heads. Returns whether it did.
  bool CutToHeads(ChunkMessage& message, Payload& payload) const;

 private:
  bool is_on_;
  std::unique_ptr<TrimPolicy> policy_;
  RoundPace pace_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TRIM_TRIMMER_H_
