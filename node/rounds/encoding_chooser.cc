#include "node/rounds/encoding_chooser.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compression/compression_rules.h"
#include "compression/netsense_encoding.h"
#include "proto/compression/codec_traits.h"
#include "xxhash.h"

namespace banyan {

EncodingChooser::EncodingChooser(NodeId self, CompressionConfig config)
    : self_(self), config_(std::move(config)), ratios_(&config_) {
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
  return netsense_[&rule - config_.rules.data()];
}

const CompressionRule* EncodingChooser::RuleOf(const KeySlice& key) {
  const auto [known, is_new] = rules_.try_emplace(key.key, nullptr);
  if (is_new) known->second = RuleFor(config_, key.name, key.elements);
  return known->second;
}

Encoding EncodingChooser::ForUplink(const KeySlice& key, Round round, ChunkIndex chunk, NodeId parent) {
  const CompressionRule* rule = RuleOf(key);
  if (rule == nullptr) return Encoding{};
  return Make(*rule, ratios_.RatioTo(parent, *rule), key, round, chunk, Half::kReduce);
}

Encoding EncodingChooser::ForResult(const KeySlice& key, Round round, ChunkIndex chunk, double ratio) {
  const CompressionRule* rule = RuleOf(key);
  if (rule == nullptr) return Encoding{};
  return Make(*rule, ratio, key, round, chunk, Half::kBroadcast);
}

double EncodingChooser::ResultRatio(const KeySlice& key, const std::vector<NodeId>& children) {
  const CompressionRule* rule = RuleOf(key);
  if (rule == nullptr || !TraitsOf(rule->codec)->is_sparse) return 1;
  return ratios_.LeastRatioTo(children, *rule);
}

// Random-k takes the same elements on every node where the ratios are equal: then a sum has no more elements than its
// parts, and passes on whole. Roundings, on the contrary, must not agree, or their errors would add up.
Encoding EncodingChooser::Make(const CompressionRule& rule, double ratio, const KeySlice& key, Round round,
                               ChunkIndex chunk, Half half) const {
  const bool is_shared = rule.codec == CodecId::kRandomK;
  const std::array<uint64_t, 5> place = {key.key.value(), round.value(), chunk.value(),
                                         is_shared ? 0 : uint64_t{self_.value()},
                                         is_shared ? 0 : static_cast<uint64_t>(half)};
  const std::optional<NetSenseConfig>& netsense = NetSenseOf(rule);
  return {.codec = rule.codec,
          .ratio = ratio,
          .selection = rule.selection,
          .seed = XXH3_64bits(place.data(), sizeof(place)),
          .netsense = netsense.has_value() ? NetSenseStepsFor(*netsense, ratio, half) : NetSenseSteps()};
}

}  // namespace banyan
