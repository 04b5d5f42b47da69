// Keeps chunks of rounds whose policy this node does not know yet, until it does. A chunk that finds no room is
// answered BUSY and stays with its sender. Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - size_bytes() is the sum of KeptBytes over the chunks kept.
// - Keep never makes size_bytes() exceed the capacity; a capacity that is lowered later drops nothing.
// - A chunk of one source is kept at most once.
// - A chunk that is kept is as good as delivered: it goes by Take, with its epoch, or when its key or its epoch has not
//   come for so long that there is none.
#ifndef BANYAN_NODE_EARLY_STORE_H_
#define BANYAN_NODE_EARLY_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/chunk_message.h"

namespace banyan {

class EarlyStore {
 public:
  struct Chunk {
    ChunkMessage message;
    Payload payload;
    Timestamp since;
  };

  explicit EarlyStore(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Keeps a chunk, from `now` on. Returns false when there is no room for it; a chunk that is kept already needs none.
  bool Keep(ChunkMessage message, Payload payload, Timestamp now);
  bool HasRoomFor(const ChunkMessage& message, const Payload& payload) const;
  // Drops the chunks that were there `before` and for which `is_known` is false. Returns how many there were.
  size_t DropUnknown(absl::FunctionRef<bool(const ChunkId&)> is_known, Timestamp before);
  // Drops the chunks of attempts of earlier epochs. Returns how many there were.
  size_t DropBefore(Epoch epoch);
  // Gives away the chunks of `round` of `key`, ordered by id and source.
  std::vector<Chunk> Take(KeyId key, Round round);
  // Returns the rounds of `key` of which chunks are kept, in order.
  std::vector<Round> RoundsOf(KeyId key) const;
  // Drops all.
  void Clear();

  void set_capacity_bytes(int64_t capacity_bytes) { capacity_bytes_ = capacity_bytes; }
  int64_t capacity_bytes() const { return capacity_bytes_; }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  using ChunkKey = std::pair<ChunkId, NodeId>;  // with the source

  // Drops the chunks that are of no use. Returns how many there were.
  size_t DropIf(absl::FunctionRef<bool(const Chunk& chunk)> is_useless);

  int64_t capacity_bytes_;
  int64_t size_bytes_ = 0;
  std::map<std::pair<KeyId, Round>, std::map<ChunkKey, Chunk>> rounds_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_EARLY_STORE_H_
