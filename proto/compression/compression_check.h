// Checks what a `compression` section may say, whoever says it. The file's reader and the wire's ask here. Pure
// functions.
#ifndef BANYAN_PROTO_COMPRESSION_COMPRESSION_CHECK_H_
#define BANYAN_PROTO_COMPRESSION_COMPRESSION_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "proto/compression/compression_config.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {

inline constexpr int kMaxCompressionRules = 256;
// The longest pattern is as long as the longest name of a key.
inline constexpr size_t kMaxKeyPatternBytes = 1024;
inline constexpr int64_t kMostLeastElements = int64_t{1} << 40;

// The first setting of the rule that is impossible or contradicts its codec; a number of the controller is named
// itself. None: the rule's controller can be made.
std::optional<FieldProblem> FindRuleProblem(const CompressionRule& rule);

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_COMPRESSION_CHECK_H_
