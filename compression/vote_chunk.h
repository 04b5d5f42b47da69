// Votes as chunks that travel: what a node puts into a low-bit round, what counts of several nodes make together, and
// what the root makes of them. Pure functions; thread-safe.
#ifndef BANYAN_COMPRESSION_VOTE_CHUNK_H_
#define BANYAN_COMPRESSION_VOTE_CHUNK_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "compression/counts/vote_count.h"
#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// Returns whether the chunk is of votes, all of it: one frame of counts; or one of a decision, where `is_result`.
bool IsOfVotes(const std::vector<FrameHeader>& frames, bool is_result);

// Returns the counts as a chunk of their weight.
CheckedChunk EncodeVotes(const VoteCount& count);
// REQUIRES: the chunk is of votes, and no result.
VoteCount DecodeVotes(const CheckedChunk& chunk);
// Says why votes from a peer cannot count in a round of these rules; empty when they can. REQUIRES: as DecodeVotes.
std::string FaultOfVotes(const CheckedChunk& chunk, const VoteRules& rules);

// The sum of all these votes. REQUIRES: at least one, each as DecodeVotes, of equal elements and rules.
CheckedChunk SumOfVotes(absl::Span<const CheckedChunk> chunks);
// What the root makes of all votes: a result with their weight. REQUIRES: as DecodeVotes.
CheckedChunk DecideVotes(const CheckedChunk& votes, const VoteRules& rules);
// The mean scale of the voters, for which each vote counted in this result; 0 where it is of no votes.
float ScaleOfResult(const CheckedChunk& result);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_VOTE_CHUNK_H_
