// Chunks of rounds whose policy this node does not yet know, kept within a bound until it does. What finds no room is
// answered BUSY and stays with its sender. Thread-compatible; owned by RoundEngine.
#ifndef BANYAN_NODE_EARLY_STORE_H_
#define BANYAN_NODE_EARLY_STORE_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/ids.h"
#include "proto/chunk_message.h"

namespace banyan {

class EarlyStore {
 public:
  struct Chunk {
    ChunkMessage message;
    Payload payload;
  };

  explicit EarlyStore(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // False when there is no room. The same chunk from the same source twice is kept once.
  bool Keep(ChunkMessage message, Payload payload);
  // Gives the chunks of the round away, in the order of their ids.
  std::vector<Chunk> Take(KeyId key, Round round);
  // The rounds of which chunks are kept, in order.
  std::vector<std::pair<KeyId, Round>> Rounds() const;
  void Clear();

  void set_capacity_bytes(int64_t capacity_bytes) { capacity_bytes_ = capacity_bytes; }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  using ChunkKey = std::pair<ChunkId, NodeId>;  // and its source

  int64_t capacity_bytes_;
  int64_t size_bytes_ = 0;
  std::map<std::pair<KeyId, Round>, std::map<ChunkKey, Chunk>> rounds_;
};

// What keeping a chunk costs: its payload and its header.
int64_t KeptBytes(const ChunkMessage& message, const Payload& payload);
// The same for chunks of that many elements in one frame, for setting limits.
int64_t KeptBytes(int64_t chunks, int64_t elements);

}  // namespace banyan

#endif  // BANYAN_NODE_EARLY_STORE_H_
