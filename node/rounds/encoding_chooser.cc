#include "node/rounds/encoding_chooser.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/statusor.h"
#include "compression/compression_rules.h"
#include "compression/control/ratio_controller.h"
#include "compression/element_types.h"
#include "compression/netsense_encoding.h"
#include "core/check.h"
#include "proto/compression/codec_traits.h"
#include "xxhash.h"

namespace banyan {

LinkRoom::LinkRoom(const CompressionConfig* config) : config_(config), controllers_(config->rules.size()) {
  for (const CompressionRule& rule : config->rules) methods_.emplace_back(LightBelowOf(rule));
}

double LinkRoom::RatioUnder(size_t rule) {
  std::unique_ptr<RatioController>& controller = controllers_.at(rule);
  if (controller == nullptr) {
    absl::StatusOr<std::unique_ptr<RatioController>> made = MakeRatioController(config_->rules[rule]);
    BANYAN_CHECK(made.ok());
    controller = *std::move(made);
  }
  return controller->ratio();
}

void LinkRoom::CountUplink(int64_t sent_bytes, int64_t taken_bytes) {
  has_uplink_ = true;
  sent_bytes_ += sent_bytes;
  taken_bytes_ += taken_bytes;
}

void LinkRoom::Observe(const Observation& link) {
  for (const std::unique_ptr<RatioController>& controller : controllers_) {
    if (controller == nullptr) continue;
    RoundObservation round = link.round;
    round.ratio = controller->ratio();
    controller->Observe(round);
  }
  results_.Observe(link.results_in_time);
}

void LinkRoom::EndRound(bool learns_share) {
  if (!has_uplink_) return;
  // Where nothing but heads was sent, nothing could be cut: more goes the next time.
  const double kept = sent_bytes_ == 0 ? 1 : static_cast<double>(taken_bytes_) / static_cast<double>(sent_bytes_);
  sent_bytes_ = taken_bytes_ = 0;
  for (TrimMethod& method : methods_) method.Observe(1 - uplink_.share() * kept);
  if (learns_share) uplink_.Observe(kept);
}

EncodingChooser::EncodingChooser(NodeId self, CompressionConfig config, bool learns_shares, RoundScript* script)
    : self_(self), config_(std::move(config)), learns_shares_(learns_shares), script_(script) {
  for (const CompressionRule& rule : config_.rules) netsense_.push_back(NetSenseNumbersOf(rule));
}

bool EncodingChooser::KeepsResiduals() const {
  return std::any_of(config_.rules.begin(), config_.rules.end(), UsesErrorFeedback);
}

bool EncodingChooser::KeepsResidual(const KeySlice& key) {
  const CompressionRule* rule = RuleOf(key);
  return rule != nullptr && UsesErrorFeedback(*rule);
}

bool EncodingChooser::Prunes(const KeySlice& key) {
  const CompressionRule* rule = RuleOf(key);
  return rule != nullptr && NetSenseOf(*rule).has_value() && NetSenseOf(*rule)->prune_factor > 0;
}

const std::optional<NetSenseConfig>& EncodingChooser::NetSenseOf(const CompressionRule& rule) const {
  return netsense_[IndexOf(rule)];
}

const CompressionRule* EncodingChooser::RuleOf(const KeySlice& key) {
  const auto [known, is_new] = rules_.try_emplace(key.key, nullptr);
  if (is_new && !IsExact(key.type)) known->second = RuleFor(config_, key.name, key.elements);
  return known->second;
}

Encoding EncodingChooser::ForUplink(const KeySlice& key, Round round, ChunkIndex chunk, NodeId parent) {
  const CompressionRule* rule = RuleOf(key);
  if (rule == nullptr) return {.codec = PlainCodecOf(key.type)};
  LinkRoom& room = RoomTo(parent);
  const size_t index = IndexOf(*rule);
  return Make(*rule, {room.RatioUnder(index), IsSentInPart(*rule) ? room.uplink_share() : 1, room.IsLightUnder(index)},
              {key.key, round, chunk, Half::kReduce});
}

Encoding EncodingChooser::ForResult(const KeySlice& key, Round round, ChunkIndex chunk, double ratio) {
  const CompressionRule* rule = RuleOf(key);
  if (rule == nullptr) return {.codec = PlainCodecOf(key.type)};
  const double share = IsSentInPart(*rule) ? ratio : 1;
  // Nobody cuts it later.
  return Make(*rule, {ratio, share, 1 - share < LightBelowOf(*rule)}, {key.key, round, chunk, Half::kBroadcast});
}

double EncodingChooser::ResultRatio(const KeySlice& key, const std::vector<NodeId>& children) {
  const CompressionRule* rule = RuleOf(key);
  if (rule == nullptr) return 1;
  const bool is_sparse = TraitsOf(rule->codec)->is_sparse;
  if (!is_sparse && !IsSentInPart(*rule)) return 1;
  double least = 1;
  for (const NodeId child : children) {
    LinkRoom& room = RoomTo(child);
    least = std::min(least, is_sparse ? room.RatioUnder(IndexOf(*rule)) : room.result_share());
  }
  return least;
}

bool EncodingChooser::IsSentInPart(const CompressionRule& rule) {
  const CodecTraits& codec = *TraitsOf(rule.codec);
  return codec.is_trimmable && !codec.is_sparse && UsesErrorFeedback(rule);
}

void EncodingChooser::ObserveUplink(NodeId parent, int64_t sent_bytes, int64_t taken_bytes) {
  RoomTo(parent).CountUplink(sent_bytes, taken_bytes);
}

void EncodingChooser::Observe(const std::vector<LinkRoom::Observation>& links) {
  for (const LinkRoom::Observation& link : links) RoomTo(link.neighbour).Observe(link);
  for (auto& [node, room] : rooms_) room.EndRound(learns_shares_);
}

// Random-k takes the same elements on every node where the ratios are equal: then a sum has no more elements than its
// parts, and passes on whole. Roundings, on the contrary, must not agree, or their errors would add up.
Encoding EncodingChooser::Make(const CompressionRule& rule, EncodingChoice choice,
                               const RoundScript::Place& place) const {
  if (script_ != nullptr) script_->OnEncoding(place, choice);
  const bool is_shared = rule.codec == CodecId::kRandomK;
  const std::array<uint64_t, 5> seed = {place.key.value(), place.round.value(), place.chunk.value(),
                                        is_shared ? 0 : uint64_t{self_.value()},
                                        is_shared ? 0 : static_cast<uint64_t>(place.half)};
  const std::optional<NetSenseConfig>& netsense = NetSenseOf(rule);
  return {.codec = choice.is_light ? LightCodecOf(rule) : rule.codec,
          .ratio = choice.ratio,
          .selection = rule.selection,
          .seed = XXH3_64bits(seed.data(), sizeof(seed)),
          .share = choice.share,
          .netsense = netsense.has_value() ? NetSenseStepsFor(*netsense, choice.ratio, place.half) : NetSenseSteps()};
}

}  // namespace banyan
