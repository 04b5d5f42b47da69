#include "node/votes/route_rules.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compression/element_types.h"
#include "compression/vote_chunk.h"
#include "core/ids.h"

namespace banyan {
namespace {

std::string Describe(const ChunkMessage& message, PrecisionRoute route) {
  if (message.precision != route) {
    return absl::StrCat("route ", RouteName(message.precision), " came, expected ", RouteName(route));
  }
  if (message.frames.empty()) return "";
  if (IsLowBit(route, message.kind)) {
    const bool is_result = message.made_in != Epoch();
    return IsOfVotes(message.frames, is_result) ? "" : "other frames than votes came in a low-bit round";
  }
  const bool has_votes = std::any_of(message.frames.begin(), message.frames.end(), [](const FrameHeader& frame) {
    return frame.codec == CodecId::kVoteCount || frame.codec == CodecId::kVoteDecision;
  });
  return has_votes
             ? absl::StrCat("votes came in a round of kind ", NameOf(message.kind), " and route ", RouteName(route))
             : "";
}

}  // namespace

std::string RouteRules::FaultOf(const ChunkMessage& message, PrecisionRoute route, DataType type) {
  std::string fault = Describe(message, route);
  if (!fault.empty()) {
    ++violations_;
    return fault;
  }
  const auto wrong = std::find_if(message.frames.begin(), message.frames.end(),
                                  [type](const FrameHeader& frame) { return !CanHold(type, frame.codec); });
  if (wrong == message.frames.end()) return "";
  return absl::StrCat("frames of codec ", static_cast<int>(wrong->codec), " came for a key of ", NameOf(type));
}

absl::StatusOr<CheckedChunk> RouteRules::Check(EncodedChunk chunk, int64_t chunk_elements) const {
  absl::StatusOr<CheckedChunk> checked = CheckChunk(std::move(chunk), chunk_elements);
  if (!checked.ok() || !IsOfVotes(checked->encoded().frames, /*is_result=*/false)) return checked;
  const std::string fault = FaultOfVotes(*checked, votes_);
  if (!fault.empty()) return absl::InvalidArgumentError(fault);
  return checked;
}

}  // namespace banyan
