// The codecs of low-bit rounds: counts on the way up, the root's decision on the way down. A frame is the whole chunk.
// No rule of a configuration names them, since what they write depends on the round's route. Stateless, hence
// thread-safe.
//
// A frame of counts, little-endian: the weight (uint32), whether there are zero votes (1 byte, 0 or 1), and what
// vote_frame.h has. It decodes into the sum that it stands for: the mean scale times votes for less votes against.
#ifndef BANYAN_COMPRESSION_COUNTS_VOTE_CODECS_H_
#define BANYAN_COMPRESSION_COUNTS_VOTE_CODECS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compression/codec.h"
#include "compression/counts/vote_count.h"

namespace banyan {

// Counts as a frame, and back. INVALID_ARGUMENT where the bytes are none on `elements`, and says why.
std::vector<uint8_t> EncodeVoteFrame(const VoteCount& count);
absl::StatusOr<VoteCount> DecodeVoteFrame(absl::Span<const uint8_t> frame, int64_t elements);

// Of a frame that DecodeVoteFrame has found to be one: the same counts, or what stands before them.
struct VoteFrameHead {
  int64_t weight = 0;
  bool has_zero_votes = false;
};
VoteFrameHead ReadVoteFrameHead(absl::Span<const uint8_t> frame);
VoteCount ReadVoteFrame(absl::Span<const uint8_t> frame, int64_t elements);

// Encode votes, or decides, as if there were one voter by the default rules, with the chunk as the slice.
const Codec& VoteCountCodec();
const Codec& VoteDecisionCodec();

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COUNTS_VOTE_CODECS_H_
