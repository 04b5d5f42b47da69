// NetSenseML's Algorithm 2 (section 4.2), which makes of an uplink's ratio and of what is to be sent how it is encoded:
//
//   1. quantize: if ratio < quantize_below and the norm of the values > quantize_rms: halves, ratio = min(1, 2 * ratio)
//   2. prune:    the gradients of the smallest weights, a share of 0.5 * (1 - ratio), stay behind
//   3. sparsify: top-k of the rest with that ratio (topk_codec.cc)
//
// What stays behind, the roundings of halves included, is what error feedback keeps (error_feedback.h). What the paper
// leaves open, and what holds here:
//  - The ratio's threshold has no value: 0.5 (NetSenseConfig). Below it the doubled ratio is used in full; above it
//    halves of all elements would be fewer bytes than the link was found to have room for.
//  - "The L2 norm" is of a gradient, whose length differs between models and, here, between chunks. It is taken per
//    element, as root mean square, so that one number means the same for each tensor and however it is cut. Each chunk
//    decides for itself.
//  - That threshold has no value either: 1e-6. Steps between halves are never finer than 2^-24. So with values of that
//    size rounding costs 3e-4 of their energy, a thousandth of what top-k leaves out and doubling saves. With values
//    ten times smaller it costs 3%, and what rounds to zero would stay a residual for ever.
//  - Halves end at 65,504. Values with a norm (not per element) that reaches it stay float32, and so do those that are
//    not finite: a residual cannot take back what has become infinite.
//  - The shares are those of each chunk, as with top-k.
//  - A result is quantized but not pruned: a gradient that reached the root reaches everybody. The root's own gradients
//    are not pruned either, for they take no uplink, so that small weights still move and may outgrow the others.
// Pure functions.
#ifndef BANYAN_COMPRESSION_NETSENSE_ENCODING_H_
#define BANYAN_COMPRESSION_NETSENSE_ENCODING_H_

#include <optional>

#include "absl/types/span.h"
#include "compression/encoding.h"
#include "proto/chunk_message.h"
#include "proto/compression/compression_config.h"
#include "proto/compression/ratio_config.h"

namespace banyan {

// The numbers of a rule whose chunks take these steps: one of top-k under `netsense`; none for others. REQUIRES:
// FindRuleProblem finds none.
std::optional<NetSenseConfig> NetSenseNumbersOf(const CompressionRule& rule);

// Returns the steps that `config` prescribes for a chunk of `half` with the ratio `ratio` of its link.
NetSenseSteps NetSenseStepsFor(const NetSenseConfig& config, double ratio, Half half);

// Step 1: the encoding of these values.
Encoding Quantized(Encoding encoding, absl::Span<const float> values);

// Step 2, after step 1: the share of the smallest weights whose gradients are not sent.
double PrunedShare(const Encoding& encoding);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_NETSENSE_ENCODING_H_
