// What stands in front of the heads of a range: a float32 scale, and for some codecs the seed of their random choices.
// Pure functions.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_SIDE_INFORMATION_H_
#define BANYAN_COMPRESSION_TRIMMABLE_SIDE_INFORMATION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace banyan {

inline constexpr int64_t kScaleBytes = sizeof(float);
inline constexpr int64_t kSeedBytes = sizeof(uint64_t);

// Returns the root mean square of `values`; a not-a-number where one of them is not finite, or their mean square is
// above what a float holds. REQUIRES: there are values.
float RootMeanSquare(absl::Span<const float> values);

// Checks the signs of `elements` that begin at `signs`, and the scale at `scale`. `codec` names the codec for the
// error.
absl::Status CheckHead(absl::string_view codec, const uint8_t* scale, const uint8_t* signs, int64_t elements);

// Checks the tails of `elements` (level_bits.h).
absl::Status CheckTails(absl::string_view codec, const uint8_t* tails, int64_t elements);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_SIDE_INFORMATION_H_
