#include "compression/vote_chunk.h"

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compression/counts/vote_codecs.h"
#include "compression/counts/vote_decision.h"
#include "compression/counts/vote_frame.h"
#include "core/check.h"

namespace banyan {
namespace {

CheckedChunk MakeChunk(CodecId codec, int64_t elements, int64_t weight, const std::vector<uint8_t>& bytes) {
  EncodedChunk chunk;
  chunk.frames = {{codec, 0, elements, static_cast<int64_t>(bytes.size()), 0}};
  chunk.payload = {Buffer::CopyOfBytes(bytes)};
  chunk.weight = static_cast<uint32_t>(weight);
  return OwnChunk(std::move(chunk), elements);
}

}  // namespace

bool IsOfVotes(const std::vector<FrameHeader>& frames, bool is_result) {
  return frames.size() == 1 && frames[0].codec == (is_result ? CodecId::kVoteDecision : CodecId::kVoteCount);
}

CheckedChunk EncodeVotes(const VoteCount& count) {
  return MakeChunk(CodecId::kVoteCount, count.elements(), count.weight(), EncodeVoteFrame(count));
}

VoteCount DecodeVotes(const CheckedChunk& chunk) {
  BANYAN_CHECK(IsOfVotes(chunk.encoded().frames, /*is_result=*/false));
  return ReadVoteFrame(chunk.encoded().payload[0].bytes(), chunk.elements());
}

std::string FaultOfVotes(const CheckedChunk& chunk, const VoteRules& rules) {
  BANYAN_CHECK(IsOfVotes(chunk.encoded().frames, /*is_result=*/false));
  const VoteFrameHead head = ReadVoteFrameHead(chunk.encoded().payload[0].bytes());
  if (head.weight != chunk.weight()) {
    return absl::StrCat("counts of ", head.weight, " votes came with weight ", chunk.weight());
  }
  if (head.has_zero_votes != HasZeroVotes(rules)) {
    return absl::StrCat("counts ", head.has_zero_votes ? "with" : "without", " zero votes came, expected others");
  }
  return "";
}

CheckedChunk SumOfVotes(absl::Span<const CheckedChunk> chunks) {
  if (chunks.size() == 1) return chunks.front();
  std::vector<VoteCount> counts;
  for (const CheckedChunk& chunk : chunks) counts.push_back(DecodeVotes(chunk));
  std::vector<const VoteCount*> summands;
  for (const VoteCount& count : counts) summands.push_back(&count);
  return EncodeVotes(VoteCount::SumOf(summands));
}

CheckedChunk DecideVotes(const CheckedChunk& votes, const VoteRules& rules) {
  const VoteDecision decision(DecodeVotes(votes), rules);
  return MakeChunk(CodecId::kVoteDecision, votes.elements(), votes.weight(), EncodeDecision(decision));
}

float ScaleOfResult(const CheckedChunk& result) {
  if (!IsOfVotes(result.encoded().frames, /*is_result=*/true)) return 0;
  return ScaleOfDecision(result.encoded().payload[0].bytes());
}

}  // namespace banyan
