// The scales of blocks, which several codecs write as float32 at the start of a frame: finite and not negative, or
// not-a-number for a block that had something in it that is not finite. Pure functions.
#ifndef BANYAN_COMPRESSION_CODECS_SCALE_CHECK_H_
#define BANYAN_COMPRESSION_CODECS_SCALE_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace banyan {

// Checks that all of `count` scales at `scales`, of any alignment, are ones that an encoder writes. `codec` names the
// codec for the error.
absl::Status CheckScales(absl::string_view codec, const uint8_t* scales, int64_t count);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_SCALE_CHECK_H_
