#include "sim/checkers/precision_checker.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "sim/message_facts.h"

namespace banyan {

void PrecisionChecker::Complain(const SentMessage& sent, const std::string& what) {
  violations_->Add(sent.now, "precision routes",
                   absl::StrCat("node ", sent.from.value(), " to node ", sent.to.value(), ": ",
                                DescribeMessage(sent.message), ": ", what));
}

void PrecisionChecker::OnSent(const SentMessage& sent) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&sent.message)) {
    if (chunk->id.half != Half::kState) CheckChunk(sent, *chunk);
  } else if (const auto* answer = std::get_if<PolicyAnswer>(&sent.message)) {
    for (const PolicyAnswer::Binding& binding : answer->bindings) {
      CheckBound(sent, binding.key, binding.first_round, binding.last_round, binding.route);
    }
  } else if (const auto* plan = std::get_if<EpochPlan>(&sent.message)) {
    for (const EpochPlan::Binding& binding : plan->bindings) {
      for (KeyId key = binding.first_key; key <= binding.last_key; key = key.Next()) {
        CheckBound(sent, key, binding.first_round, binding.last_round, binding.route);
      }
    }
  }
}

void PrecisionChecker::CheckChunk(const SentMessage& sent, const ChunkMessage& chunk) {
  CheckRoute(sent, chunk);
  CheckFrames(sent, chunk);
}

void PrecisionChecker::CheckRoute(const SentMessage& sent, const ChunkMessage& chunk) {
  const SliceRoutes::Answer* const answer = slices_->FindAnswer(chunk);
  if (answer == nullptr) return;
  const std::optional<SliceRoutes::Place> place = slices_->FindPlace(chunk, *answer);
  if (!place.has_value() || place->range.elements != chunk.elements) {
    const int64_t elements = place.has_value() ? place->range.elements : 0;
    return Complain(sent, absl::StrCat("has ", chunk.elements, " elements, the key's borders give it ", elements));
  }
  const PrecisionRoute bound = answer->routes.Of(place->slice);
  if (chunk.precision != bound) {
    Complain(sent, absl::StrCat("route ", RouteName(chunk.precision), " in slice ", place->slice,
                                ", which the answer gives route ", RouteName(bound)));
  }
  const auto [entry, is_first] =
      routes_.try_emplace({chunk.id.key, chunk.id.round, place->slice}, Known{chunk.precision, chunk.id.epoch, {}});
  Known& known = entry->second;
  if (is_first && chunk.id.round > Round(0)) {
    ++slice_rounds_[{chunk.id.key, place->slice}][static_cast<size_t>(chunk.precision)];
    const bool is_new = taken_[{chunk.id.key, chunk.id.round}].insert(chunk.precision).second;
    if (is_new) ++rounds_[static_cast<size_t>(chunk.precision)];
  }
  // Who fell out of the job does not hear of the route that others gave a round which nobody of them had begun.
  if (known.route != chunk.precision && IsLeftBehind(known)) {
    known = Known{chunk.precision, chunk.id.epoch, {}};
  } else if (known.route != chunk.precision && chunk.id.epoch >= known.epoch) {
    Complain(sent, absl::StrCat("route ", RouteName(chunk.precision), " after ", RouteName(known.route), " in slice ",
                                place->slice));
  }
  known.epoch = std::max(known.epoch, chunk.id.epoch);
  Epoch& begun = known.begun_by[chunk.route.path.front()];
  begun = std::max(begun, chunk.id.epoch);
}

bool PrecisionChecker::HasFallenOutSince(NodeId node, Epoch epoch) const {
  const std::optional<Epoch> joined_in = membership_->JoinedIn(node);
  if (joined_in.has_value() && *joined_in > epoch) return true;
  for (Epoch later = epoch.Next(); later <= membership_->epoch(); later = later.Next()) {
    const std::optional<std::set<NodeId>> members = membership_->MembersOf(later);
    if (members.has_value() && !members->contains(node)) return true;
  }
  return false;
}

bool PrecisionChecker::IsLeftBehind(const Known& known) const {
  return std::all_of(known.begun_by.begin(), known.begun_by.end(),
                     [this](const auto& begun) { return HasFallenOutSince(begun.first, begun.second); });
}

void PrecisionChecker::CheckFrames(const SentMessage& sent, const ChunkMessage& chunk) {
  const bool is_low_bit = chunk.precision == PrecisionRoute::kLowBit && chunk.kind == RoundKind::kAggregate;
  const auto is_vote = [](const FrameHeader& frame) {
    return frame.codec == CodecId::kVoteCount || frame.codec == CodecId::kVoteDecision;
  };
  const auto votes = std::count_if(chunk.frames.begin(), chunk.frames.end(), is_vote);
  const bool fits = is_low_bit ? votes == static_cast<int64_t>(chunk.frames.size()) : votes == 0;
  if (!fits) Complain(sent, absl::StrCat(votes, " frames of votes in a round of route ", RouteName(chunk.precision)));
}

void PrecisionChecker::CheckBound(const SentMessage& sent, KeyId key, Round first, Round last,
                                  const KeyRoutes& routes) {
  for (auto known = routes_.lower_bound({key, first, 0}); known != routes_.end(); ++known) {
    const auto& [of_key, round, slice] = known->first;
    if (of_key != key || round > last) return;
    if (routes.Of(slice) == known->second.route || IsLeftBehind(known->second)) continue;
    Complain(sent, absl::StrCat("round ", round.value(), " is bound to route ", RouteName(routes.Of(slice)),
                                " in slice ", slice, " after ", RouteName(known->second.route)));
  }
}

int64_t PrecisionChecker::mixed_rounds() const {
  return std::count_if(taken_.begin(), taken_.end(), [](const auto& round) {
    return round.second.size() > 1 && round.second.contains(PrecisionRoute::kLowBit);
  });
}

}  // namespace banyan
