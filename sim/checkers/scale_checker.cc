#include "sim/checkers/scale_checker.h"

#include <bit>
#include <cmath>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compression/counts/vote_codecs.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "compression/counts/vote_frame.h"
#include "sim/message_facts.h"

namespace banyan {
namespace {

bool IsOf(const ChunkMessage& chunk, CodecId codec) {
  return chunk.id.half != Half::kState && chunk.frames.size() == 1 && chunk.frames.front().codec == codec;
}

}  // namespace

ScaleChecker::ScaleChecker(const TrainingPlan* plan, std::vector<WorkerName> workers, const VoteRules& rules,
                           SliceRoutes* slices, Violations* violations)
    : plan_(plan), workers_(std::move(workers)), rules_(rules), slices_(slices), violations_(violations) {}

void ScaleChecker::Complain(const SentMessage& sent, const std::string& what) {
  violations_->Add(sent.now, "vote scales",
                   absl::StrCat("node ", sent.from.value(), " to node ", sent.to.value(), ": ",
                                DescribeMessage(sent.message), ": ", what));
}

void ScaleChecker::OnSent(const SentMessage& sent) {
  const auto* const chunk = std::get_if<ChunkMessage>(&sent.message);
  if (chunk == nullptr || chunk->route.source() != sent.from) return;
  if (IsOf(*chunk, CodecId::kVoteDecision)) return CheckResult(sent, *chunk);
  const bool is_part = IsOf(*chunk, CodecId::kVoteCount) && chunk->made_in == Epoch();
  if (is_part && sent_.emplace(sent.from, chunk->id).second) CheckPart(sent, *chunk);
}

void ScaleChecker::OnDelivered(const SentMessage& sent) {
  const auto* const chunk = std::get_if<ChunkMessage>(&sent.message);
  if (chunk == nullptr || chunk->route.destination() != sent.to) return;
  if (!IsOf(*chunk, CodecId::kVoteCount) || chunk->made_in != Epoch()) return;
  const std::optional<Votes> votes = VotesOf(sent, *chunk);
  if (votes.has_value()) from_children_[{sent.to, chunk->id}].try_emplace(chunk->route.source(), *votes);
}

std::optional<SliceRoutes::Place> ScaleChecker::PlaceOf(const ChunkMessage& chunk) {
  const SliceRoutes::Answer* const answer = slices_->FindAnswer(chunk);
  return answer == nullptr ? std::nullopt : slices_->FindPlace(chunk, *answer);
}

std::optional<ScaleChecker::Votes> ScaleChecker::VotesOf(const SentMessage& sent, const ChunkMessage& chunk) {
  const absl::StatusOr<VoteCount> count = DecodeVoteFrame(sent.payload.front().bytes(), chunk.elements);
  if (!count.ok()) return std::nullopt;  // nodes refuse it
  return Votes{count->weight(), count->scales()};
}

void ScaleChecker::CheckPart(const SentMessage& sent, const ChunkMessage& chunk) {
  const std::optional<SliceRoutes::Place> place = PlaceOf(chunk);
  const std::optional<Votes> all = VotesOf(sent, chunk);
  if (!place.has_value() || !all.has_value()) return;
  Votes below;
  for (const auto& [child, votes] : from_children_[{sent.from, chunk.id}]) {
    below.voters += votes.voters;
    below.scales.Add(votes.scales);
  }
  if (!all->scales.is_finite() || !below.scales.is_finite()) return;
  if (all->voters < below.voters || all->scales.units() < below.scales.units()) {
    return Complain(sent, "has less than the children's votes have together");
  }
  const Votes own = {all->voters - below.voters, ScaleSum::OfUnits(all->scales.units() - below.scales.units())};
  ++parts_;
  const Part part(sent.from, chunk.id.epoch, chunk.id.attempt, chunk.id.key, chunk.id.round, place->slice);
  const auto [entry, is_first] = own_.try_emplace(part, own);
  if (!is_first) {
    if (entry->second == own) return;
    return Complain(sent, absl::StrCat("slice ", place->slice, " has another scale here than in its other chunks"));
  }
  const std::optional<size_t> tensor = KnownTensor(chunk.id.key);
  if (!tensor.has_value()) return;
  ++known_;
  if (AreOfWorkers(sent.from, own, *tensor, chunk.id.round, place->slice_range)) return;
  Complain(sent, absl::StrCat("the scale ", own.scales.Mean(own.voters), " is not that of slice ", place->slice));
}

void ScaleChecker::CheckResult(const SentMessage& sent, const ChunkMessage& chunk) {
  const std::optional<SliceRoutes::Place> place = PlaceOf(chunk);
  const absl::StatusOr<VoteDecision> decision = DecodeDecision(sent.payload.front().bytes(), chunk.elements);
  if (!place.has_value() || !decision.ok() || !std::isfinite(decision->scale())) return;
  const Epoch made_in = chunk.made_in == Epoch() ? chunk.id.epoch : chunk.made_in;
  const Result result(chunk.id.key, chunk.id.round, place->slice, made_in);
  const auto [entry, is_first] = results_.try_emplace(result, decision->scale());
  if (!is_first) {
    if (entry->second == decision->scale()) return;
    return Complain(sent, absl::StrCat("slice ", place->slice, " has another scale here than in its other results"));
  }
  const std::optional<size_t> tensor = KnownTensor(chunk.id.key);
  if (!tensor.has_value() || chunk.weight != workers_.size()) return;
  ++known_;
  ScaleSum scales;
  for (const WorkerName& worker : workers_) {
    scales.Add(ScaleOf(worker, *tensor, chunk.id.round, place->slice_range));
  }
  if (scales.Mean(chunk.weight) == decision->scale()) return;
  Complain(sent, absl::StrCat("the scale ", decision->scale(), " is not the mean ", scales.Mean(chunk.weight),
                              " of slice ", place->slice));
}

std::optional<size_t> ScaleChecker::KnownTensor(KeyId key) const {
  if (plan_ == nullptr || rules_.aggregate == VoteAggregate::kMean) return std::nullopt;
  const std::string name = slices_->NameOf(key);
  for (size_t tensor = 0; tensor < plan_->tensors.size(); ++tensor) {
    const TrainingPlan::Tensor& each = plan_->tensors[tensor];
    if (each.name == name && each.type == DataType::kFloat32) return tensor;
  }
  return std::nullopt;
}

ScaleSum ScaleChecker::ScaleOf(WorkerName worker, size_t tensor, Round round, const ElementRange& slice) const {
  std::vector<float> values(plan_->tensors[tensor].elements);
  plan_->Fill(worker, tensor, round, absl::MakeSpan(values));
  return ScaleSum::Of(SliceScale(absl::MakeConstSpan(values).subspan(slice.first_element, slice.elements)));
}

bool ScaleChecker::AreOfWorkers(NodeId node, const Votes& own, size_t tensor, Round round,
                                const ElementRange& slice) const {
  std::vector<ScaleSum> scales;
  for (const WorkerName& worker : workers_) {
    if (worker.node == node) scales.push_back(ScaleOf(worker, tensor, round, slice));
  }
  // Some may not have pushed.
  for (uint32_t some = 0; some < (1u << scales.size()); ++some) {
    if (std::popcount(some) != own.voters) continue;
    ScaleSum sum;
    for (size_t i = 0; i < scales.size(); ++i) {
      if ((some >> i & 1) != 0) sum.Add(scales[i]);
    }
    if (sum == own.scales) return true;
  }
  return false;
}

}  // namespace banyan
