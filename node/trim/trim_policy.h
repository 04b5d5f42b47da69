// Decides how much of a chunk goes on when it leaves a queue. Pure: all that a policy knows is in the question, so that
// equal questions have equal answers. Thread-safe; owned by Trimmer.
//
// Invariants, of every policy:
// - It keeps all frames of level 0, and no more frames than there are.
#ifndef BANYAN_NODE_TRIM_TRIM_POLICY_H_
#define BANYAN_NODE_TRIM_TRIM_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/ids.h"
#include "core/time.h"
#include "node/trim/round_pace.h"
#include "proto/chunk_message.h"
#include "proto/trimming_config.h"

namespace banyan {

struct TrimQuestion {
  const ChunkMessage* message = nullptr;  // CanBeCut() is true of it
  Timestamp now;
  std::optional<RoundPace::Due> due;  // when it is; empty when nobody knows
  int64_t waiting_bytes = 0;          // in its queue, behind it
};

class TrimPolicy {
 public:
  virtual ~TrimPolicy() = default;
  // Returns how many of the chunk's frames go on.
  virtual size_t KeptFrames(const TrimQuestion& question) const = 0;
  // Returns whether that says what the link can carry.
  virtual bool LooksAtTheLink() const { return true; }
};

// Cuts what would end after the round can end elsewhere: in proportion to how late a chunk is, down to its heads when
// that is the slack or more.
class DeadlineTrimPolicy : public TrimPolicy {
 public:
  size_t KeptFrames(const TrimQuestion& question) const override;
};

// Cuts to the heads while more than `bound_bytes` wait, as a switch does whose queue fills.
class QueueTrimPolicy : public TrimPolicy {
 public:
  explicit QueueTrimPolicy(int64_t bound_bytes) : bound_bytes_(bound_bytes) {}
  size_t KeptFrames(const TrimQuestion& question) const override;

 private:
  int64_t bound_bytes_;
};

// Cuts a `share` of chunks to their heads, chosen by the chunk and `self`.
class RandomTrimPolicy : public TrimPolicy {
 public:
  RandomTrimPolicy(double share, NodeId self) : share_(share), self_(self) {}
  size_t KeptFrames(const TrimQuestion& question) const override;
  bool LooksAtTheLink() const override { return false; }

 private:
  double share_;
  NodeId self_;
};

// Keeps all.
class NoTrimPolicy : public TrimPolicy {
 public:
  size_t KeptFrames(const TrimQuestion& question) const override { return question.message->frames.size(); }
};

// Makes the policy that `config` names, for the node `self`.
std::unique_ptr<TrimPolicy> MakeTrimPolicy(const TrimmingConfig& config, NodeId self);

}  // namespace banyan

#endif  // BANYAN_NODE_TRIM_TRIM_POLICY_H_
