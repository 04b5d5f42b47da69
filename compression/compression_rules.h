// Finds the rule of a job's `compression` section that a tensor falls under. Pure functions.
#ifndef BANYAN_COMPRESSION_COMPRESSION_RULES_H_
#define BANYAN_COMPRESSION_COMPRESSION_RULES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/compression/compression_config.h"

namespace banyan {

// The first rule whose `keys` match; null where the tensor travels as fp32, be it that none matches, that the rule says
// so, or that the tensor is small. `elements` is of the whole tensor.
const CompressionRule* RuleFor(const CompressionConfig& config, absl::string_view key_name, int64_t elements);

// Returns whether what the codec drops is kept. That is what `rule` says, else whether its codec is biased.
bool UsesErrorFeedback(const CompressionRule& rule);

// Returns the share that is cut of what is sent from which on `rule`'s codec is used, and LightCodecOf below. 0 where
// it always is.
double LightBelowOf(const CompressionRule& rule);

// Returns the codec in levels without a transform that takes its place. Where what is cut comes back that is the one
// with the least error, although it is biased. Where it is lost, it is one without a bias.
CodecId LightCodecOf(const CompressionRule& rule);

// Returns whether `pattern` matches `name`. Each '*' stands for any characters or none. Takes time in proportion to
// both.
bool MatchesPattern(absl::string_view pattern, absl::string_view name);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COMPRESSION_RULES_H_
