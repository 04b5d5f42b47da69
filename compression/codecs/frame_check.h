// The checks that codecs make of a frame that a peer sent, before they decode it. Pure functions.
#ifndef BANYAN_COMPRESSION_CODECS_FRAME_CHECK_H_
#define BANYAN_COMPRESSION_CODECS_FRAME_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/buffer.h"
#include "proto/chunk_message.h"

namespace banyan {

// Checks that the frame's elements lie in a chunk of `chunk_elements`, and its level below `levels`. `codec` names the
// codec for the error.
absl::Status CheckFrameRange(absl::string_view codec, const FrameHeader& header, int64_t chunk_elements,
                             int levels = 1);

// Checks that `frame` has exactly `expected_bytes` bytes. `codec` names the codec for the error.
absl::Status CheckFrameBytes(absl::string_view codec, const FrameHeader& header, const Buffer& frame,
                             int64_t expected_bytes);

// Checks the scales of blocks, which several codecs write as float32 at the start of a frame, at any alignment: finite
// and not negative, or not-a-number for a block that had something in it that is not finite. `codec` names the codec
// for the error.
absl::Status CheckScales(absl::string_view codec, const uint8_t* scales, int64_t count);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_FRAME_CHECK_H_
