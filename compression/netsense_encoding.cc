#include "compression/netsense_encoding.h"

#include <algorithm>
#include <cmath>

#include "compression/kernels/vector_math.h"
#include "compression/prune.h"
#include "core/check.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
namespace {

constexpr double kLargestHalf = 65504;

// No element is larger than the norm of all. False for what is not finite.
bool AllAreHalves(double norm) { return norm < kLargestHalf; }

}  // namespace

std::optional<NetSenseConfig> NetSenseNumbersOf(const CompressionRule& rule) {
  if (rule.controller != RatioControllerKind::kNetSense || rule.codec != CodecId::kTopK) return std::nullopt;
  const absl::StatusOr<RatioControllerConfig> config = MakeRatioControllerConfig(rule);
  BANYAN_CHECK(config.ok());
  return config->netsense;
}

NetSenseSteps NetSenseStepsFor(const NetSenseConfig& config, double ratio, Half half) {
  NetSenseSteps steps;
  if (ratio < config.quantize_below) steps.quantize_rms = config.quantize_rms;
  if (half == Half::kReduce) steps.prune_factor = config.prune_factor;
  return steps;
}

Encoding Quantized(Encoding encoding, absl::Span<const float> values) {
  if (std::isinf(encoding.netsense.quantize_rms) || values.empty()) return encoding;
  const double norm = L2Norm(values);
  const double rms = norm / std::sqrt(static_cast<double>(values.size()));
  if (!AllAreHalves(norm) || !(rms > encoding.netsense.quantize_rms)) return encoding;
  encoding.value_codec = CodecId::kFp16;
  encoding.ratio = std::min(1.0, 2 * encoding.ratio);
  return encoding;
}

double PrunedShare(const Encoding& encoding) { return PruningShare(encoding.netsense.prune_factor, encoding.ratio); }

}  // namespace banyan
