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

RatioController& LinkRatios::ControllerOf(NodeId neighbour, const CompressionRule& rule) {
  const auto index = static_cast<size_t>(&rule - config_->rules.data());
  BANYAN_CHECK(index < config_->rules.size());
  std::unique_ptr<RatioController>& controller = controllers_[{neighbour, index}];
  if (controller == nullptr) {
    absl::StatusOr<std::unique_ptr<RatioController>> made = MakeRatioController(rule);
    BANYAN_CHECK(made.ok());
    controller = *std::move(made);
  }
  return *controller;
}

double LinkRatios::RatioTo(NodeId neighbour, const CompressionRule& rule) {
  return ControllerOf(neighbour, rule).ratio();
}

double LinkRatios::LeastRatioTo(const std::vector<NodeId>& neighbours, const CompressionRule& rule) {
  double least = 1;
  for (NodeId neighbour : neighbours) least = std::min(least, RatioTo(neighbour, rule));
  return least;
}

void LinkRatios::Observe(const std::vector<Observation>& links) {
  for (const Observation& link : links) {
    const auto first = controllers_.lower_bound({link.neighbour, 0});
    for (auto entry = first; entry != controllers_.end() && entry->first.first == link.neighbour; ++entry) {
      RoundObservation round = link.round;
      round.ratio = entry->second->ratio();
      entry->second->Observe(round);
    }
  }
}

EncodingChooser::EncodingChooser(NodeId self, CompressionConfig config, bool learns_shares, RoundScript* script)
    : self_(self), config_(std::move(config)), ratios_(&config_), learns_shares_(learns_shares), script_(script) {
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

std::vector<TrimMethod>& EncodingChooser::MethodsTo(NodeId parent) {
  const auto [known, is_new] = methods_.try_emplace(parent);
  if (is_new) {
    for (const CompressionRule& rule : config_.rules) known->second.emplace_back(LightBelowOf(rule));
  }
  return known->second;
}

const CompressionRule* EncodingChooser::RuleOf(const KeySlice& key) {
  const auto [known, is_new] = rules_.try_emplace(key.key, nullptr);
  if (is_new && !IsExact(key.type)) known->second = RuleFor(config_, key.name, key.elements);
  return known->second;
}

Encoding EncodingChooser::ForUplink(const KeySlice& key, Round round, ChunkIndex chunk, NodeId parent) {
  const CompressionRule* rule = RuleOf(key);
  if (rule == nullptr) return {.codec = PlainCodecOf(key.type)};
  const auto known = uplinks_.find(parent);
  const double share = known != uplinks_.end() && IsSentInPart(*rule) ? known->second.share() : 1;
  return Make(*rule, {ratios_.RatioTo(parent, *rule), share, MethodsTo(parent)[IndexOf(*rule)].is_light()},
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
  if (TraitsOf(rule->codec)->is_sparse) return ratios_.LeastRatioTo(children, *rule);
  if (!IsSentInPart(*rule)) return 1;
  double least = 1;
  for (const NodeId child : children) {
    const auto known = results_.find(child);
    if (known != results_.end()) least = std::min(least, known->second.share());
  }
  return least;
}

bool EncodingChooser::IsSentInPart(const CompressionRule& rule) {
  const CodecTraits& codec = *TraitsOf(rule.codec);
  return codec.is_trimmable && !codec.is_sparse && UsesErrorFeedback(rule);
}

void EncodingChooser::ObserveUplink(NodeId parent, int64_t sent_bytes, int64_t taken_bytes) {
  taken_[parent].sent_bytes += sent_bytes;
  taken_[parent].taken_bytes += taken_bytes;
}

void EncodingChooser::Observe(const std::vector<LinkRatios::Observation>& links) {
  ratios_.Observe(links);
  for (const LinkRatios::Observation& link : links) {
    results_.try_emplace(link.neighbour, SentShare::OfResults()).first->second.Observe(link.results_in_time);
  }
  // Where nothing but heads was sent, nothing could be cut: more goes the next time.
  for (auto& [parent, uplink] : uplinks_) taken_.try_emplace(parent, Taken{1, 1});
  for (const auto& [parent, taken] : std::exchange(taken_, {})) {
    const double kept = static_cast<double>(taken.taken_bytes) / static_cast<double>(taken.sent_bytes);
    SentShare& uplink = uplinks_.try_emplace(parent, SentShare::OfContributions()).first->second;
    for (TrimMethod& method : MethodsTo(parent)) method.Observe(1 - uplink.share() * kept);
    if (learns_shares_) uplink.Observe(kept);
  }
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
