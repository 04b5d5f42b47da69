// What this node keeps of each key with a server-side optimizer: the replica and the optimizer's moments, as images.
// One that joins a running job lacks them until another member gives it one. Thread-compatible; owned by RoundEngine.
//
// All members have the same replica after the same round. So an image says after which round it is, and is taken by a
// node that is with the key where the giver was.
//
// Invariants:
// - An image is given of a key whose last round is complete here and of whose next one nothing has come: else a step
//   may be under way.
// - A key that lacks its replica goes on: results are held and passed on, and rounds complete, for nobody.
#ifndef BANYAN_NODE_ROUNDS_REPLICAS_H_
#define BANYAN_NODE_ROUNDS_REPLICAS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "node/rounds/round_reports.h"
#include "node/step_context.h"

namespace banyan {

class Replicas {
 public:
  // `keys` outlives this.
  explicit Replicas(KeyStates* keys) : keys_(keys) {}

  // This node has joined after the key was trained: it lacks its replica, if there is an optimizer. REQUIRES: the key
  // is known.
  void Lack(KeyId key) { keys_->at(key).memory.Lack(); }
  bool Lacks(KeyId key) const;
  // Returns the keys that lack their replica, in order.
  std::vector<KeyId> Lacking() const;
  bool LacksAny() const;

  // Abstains from no further round of these keys, or goes on to; whoever asks for the latter says that they changed.
  void Hold(KeyId key, bool is_held) { keys_->at(key).is_held = is_held; }

  // Returns the last round of the key that is complete here; none when the first is not.
  std::optional<Round> LastComplete(KeyId key) const;
  // Returns the size of the key's image. REQUIRES: the key is known, with an optimizer.
  int64_t ImageBytes(KeyId key) const { return keys_->at(key).memory.image_bytes(); }
  // True if this node can give the image of the key after this round.
  bool CanGive(KeyId key, Round after) const;
  // Copies a part of the key's image. REQUIRES: CanGive; the part lies within the image.
  void Read(KeyId key, int64_t first_byte, absl::Span<uint8_t> to) const {
    keys_->at(key).memory.ReadImage(first_byte, to);
  }
  // Returns a copy of the key's parameters if they are those after the round before `open`, and nothing of that has
  // come: it may be that nobody contributes to it. Else nothing, and what comes is the end of a round that does come.
  Buffer CopyIfStill(KeyId key, Round open) const;
  // Takes the key's image after its last complete round, and goes on with it. REQUIRES: Lacks(key); as many bytes as
  // ImageBytes.
  void Take(StepContext& step, KeyId key, absl::Span<const uint8_t> image);

 private:
  KeyStates* keys_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_REPLICAS_H_
