// The replicas of some keys after known rounds, as one state that is cut into chunks: their images, one behind the
// other. A value; thread-compatible.
#ifndef BANYAN_NODE_REPLICAS_REPLICA_SET_H_
#define BANYAN_NODE_REPLICAS_REPLICA_SET_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/rounds/replicas.h"
#include "proto/state_layout.h"
#include "proto/state_messages.h"

namespace banyan {

class ReplicaSet {
 public:
  struct Part {
    KeyId key;
    Round after;
    int64_t first_byte = 0;
    int64_t size_bytes = 0;
  };

  ReplicaSet() = default;
  // Of these keys of a joiner, each after its last complete round. REQUIRES: it knows them, and that round.
  ReplicaSet(const Replicas& replicas, const std::vector<KeyId>& keys);
  // What a joiner asks for, where this node can give it. FAILED_PRECONDITION says which key it cannot.
  static absl::StatusOr<ReplicaSet> ToGive(const Replicas& replicas, const std::vector<KeysPushed>& wanted);

  const std::vector<Part>& parts() const { return parts_; }
  bool empty() const { return parts_.empty(); }
  int64_t total_bytes() const { return parts_.empty() ? 0 : parts_.back().first_byte + parts_.back().size_bytes; }
  StateLayout layout() const { return StateLayout(total_bytes()); }
  StateShape Shape() const;
  // The keys and rounds, in runs.
  std::vector<KeysPushed> Runs() const;
  // True if each of these keys is still after the round that it was.
  bool IsCurrent(const Replicas& replicas) const;
  // Copies a chunk out of this node's memory. REQUIRES: ToGive has made this, in the same step; the layout has it.
  Buffer ReadChunk(const Replicas& replicas, ChunkIndex chunk) const;

 private:
  void Add(KeyId key, Round after, int64_t size_bytes);

  std::vector<Part> parts_;  // in order of keys
};

}  // namespace banyan

#endif  // BANYAN_NODE_REPLICAS_REPLICA_SET_H_
