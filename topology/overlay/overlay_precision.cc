#include "topology/overlay/overlay_precision.h"

#include <algorithm>
#include <string>

namespace banyan {

PrecisionConfig ReadPrecision(const YamlValue& value, YamlProblems& problems) {
  PrecisionConfig config;
  config.place = value.place;
  YamlMapReader map(value, "precision", problems);
  for (const auto& [key, file] : {std::pair("profile", &config.profile), {"binding", &config.binding}}) {
    const YamlValue* const name = map.Require(key);
    if (name != nullptr) *file = ReadText(*name, map.PathOf(key), problems).value_or("");
  }
  map.Finish();
  return config;
}

void CheckPrecision(const OverlayConfig& overlay, YamlProblems& problems) {
  if (overlay.precision.profile.empty()) return;
  const auto refuse = [&](bool is_wrong, const std::string& why) {
    if (is_wrong) problems.Add(overlay.precision.place, "precision: " + why);
  };
  refuse(overlay.aggregation.op == AggregationOp::kSum,
         "a low-bit round makes a mean, but aggregation.op is sum; take another operation");
  refuse(
      overlay.aggregation.fixed_order,
      "each worker of a node is a part of its own, which aggregation.order: fixed does not know; remove one of them");
  refuse(overlay.aggregation.quorum > 0, "late workers have no votes; remove aggregation.quorum");
  refuse(std::any_of(overlay.compression.rules.begin(), overlay.compression.rules.end(),
                     [](const CompressionRule& rule) { return rule.codec != CodecId::kFp32; }),
         "rounds that are not low-bit are of full precision; remove compression, or this section");
}

}  // namespace banyan
