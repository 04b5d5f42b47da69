// What a chunk must look like to agree with the precision route of its round and its key's type. A low-bit round has
// nothing but votes, and no other round has any; an exact type has frames of its own, and no other type has those.
// Thread-compatible; owned by RoundEngine.
#ifndef BANYAN_NODE_VOTES_ROUTE_RULES_H_
#define BANYAN_NODE_VOTES_ROUTE_RULES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "compression/encoded_chunk.h"
#include "core/data_type.h"
#include "proto/chunk_message.h"
#include "proto/precision/key_routes.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// Returns whether rounds of this route and kind are of votes. Broadcasts and flushes are lossless.
inline bool IsLowBit(PrecisionRoute route, RoundKind kind) {
  return route == PrecisionRoute::kLowBit && kind == RoundKind::kAggregate;
}

class RouteRules {
 public:
  // `low_bit`: the job's; empty where no round is low-bit.
  explicit RouteRules(const std::optional<VoteRules>& low_bit) : votes_(low_bit.value_or(VoteRules())) {}

  // Says how a chunk of a round with this `route` disagrees with it, and counts it, or how it does with the key's
  // `type`; empty when it does not.
  std::string FaultOf(const ChunkMessage& message, PrecisionRoute route, DataType type);
  // Checks a contribution's payload as CheckChunk does, and that votes are what its weight and the rules say. REQUIRES:
  // FaultOf is empty for its message.
  absl::StatusOr<CheckedChunk> Check(EncodedChunk chunk, int64_t chunk_elements) const;

  const VoteRules& votes() const { return votes_; }
  // Whether votes leave residuals.
  bool LeavesResiduals() const { return votes_.aggregate == VoteAggregate::kMean; }
  // Returns how many chunks disagreed with the route of their round.
  uint64_t violations() const { return violations_; }

 private:
  VoteRules votes_;
  uint64_t violations_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_VOTES_ROUTE_RULES_H_
