// Counts and decisions as bytes, and back with every check that bytes of another process need. Little-endian.
//
// Counts: the sum of scales (16 bytes, units of ScaleSum); the planes of votes for, the lowest first; the planes of
// votes against where there are zero votes. A plane has (elements + 7) / 8 bytes. Elements, weight and kind stand in
// the header of the chunk.
//
// Decision: the form (1 byte), then by form
// - kSigns: the scale (float32), the plane above; all others are below.
// - kSignsAndZeros: the scale, the plane above, the plane below.
// - kMean, kMeanWithZeroVotes: the weight (uint32), then as counts.
//
// Pure functions; thread-safe.
#ifndef BANYAN_COMPRESSION_COUNTS_VOTE_FRAME_H_
#define BANYAN_COMPRESSION_COUNTS_VOTE_FRAME_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"

namespace banyan {

// Returns the bytes that EncodeCount makes of such a count.
int64_t CountFrameBytes(int64_t elements, int64_t weight, bool has_zero_votes);

std::vector<uint8_t> EncodeCount(const VoteCount& count);
// Appends the same bytes.
void AppendCount(const VoteCount& count, std::vector<uint8_t>& bytes);

// INVALID_ARGUMENT where `bytes` are no count of `weight` votes on `elements`, and says why.
absl::StatusOr<VoteCount> DecodeCount(absl::Span<const uint8_t> bytes, int64_t elements, int64_t weight,
                                      bool has_zero_votes);

// The same of bytes that DecodeCount has found to be one.
VoteCount ReadCount(absl::Span<const uint8_t> bytes, int64_t elements, int64_t weight, bool has_zero_votes);

std::vector<uint8_t> EncodeDecision(const VoteDecision& decision);

// INVALID_ARGUMENT where `bytes` are no decision on `elements`, and says why.
absl::StatusOr<VoteDecision> DecodeDecision(absl::Span<const uint8_t> bytes, int64_t elements);

// Of bytes that DecodeDecision has found to be one on so many elements: writes VoteDecision::WriteTo's values where the
// bytes lie, and returns VoteDecision::scale().
void WriteDecision(absl::Span<const uint8_t> bytes, absl::Span<float> values);
float ScaleOfDecision(absl::Span<const uint8_t> bytes);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COUNTS_VOTE_FRAME_H_
