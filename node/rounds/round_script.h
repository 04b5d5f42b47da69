// What rounds tell a transcript, and what they do otherwise where one is replayed. This one notes nothing and changes
// nothing. Thread-compatible; owned by NodeCore.
//
// Invariants:
// - With equal contributions, sums in a fixed order, and all that it answers as it was, results are equal to the bit.
#ifndef BANYAN_NODE_ROUNDS_ROUND_SCRIPT_H_
#define BANYAN_NODE_ROUNDS_ROUND_SCRIPT_H_

#include <compare>
#include <cstdint>

#include "core/ids.h"
#include "proto/compression/compression_config.h"
#include "proto/half.h"
#include "proto/policy_slice.h"

namespace banyan {

class RoundScript {
 public:
  // One piece of one tensor in one round, on its way up or down.
  struct Place {
    KeyId key;
    Round round;
    ChunkIndex chunk;
    Half half = Half::kReduce;

    friend auto operator<=>(const Place&, const Place&) = default;
  };

  virtual ~RoundScript() = default;

  // This policy governs the round.
  virtual void OnBound(KeyId /*key*/, Round /*round*/, const PolicySlice& /*slice*/) {}
  // The piece is about to be encoded so; may change it.
  virtual void OnEncoding(const Place& /*place*/, EncodingChoice& /*choice*/) {}
  // The result lacks the last `frames` frames of this node's contribution, which were cut.
  virtual void OnCut(const Place& /*place*/, uint32_t /*frames*/) {}
  // Returns how many last frames of this node's contribution are cut before they leave.
  virtual uint32_t CutOf(const Place& /*place*/) const { return 0; }
  // Returns whether the round may be over here, now that all of its result was read.
  virtual bool MayComplete(KeyId /*key*/, Round /*round*/) const { return true; }
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_ROUND_SCRIPT_H_
