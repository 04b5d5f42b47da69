// One bit per element: the signs after a randomized Hadamard transform, with the unbiased scale of DRIVE (Vargaftik et
// al., "DRIVE: One-bit Distributed Mean Estimation", 2021).
//
// Elements are cut into rows of 32,768. What is left over is cut into rows of the largest power of two that fits, down
// to 1,024. At last comes one row of the next power of two, filled up with zeros. Each row x of n is turned into
// y = H D x (hadamard.h, key KeyOfBlock(seed, row)), n times longer in square norm than x. The frame, little-endian:
// the seed as uint64; a float32 scale f = ||x||^2 / ||y||_1 per row, summed as in lane_sums.h; then for each row the
// signs of y in the order of sign_bits.h, zero bits after the last. An element is that of D H f sign(y). In the words
// of the paper, with the rotation Rx = y / sqrt(n), its scale is S = ||x||^2 / ||Rx||_1 = sqrt(n) f.
//
// The product of the decoded row with the true one is always ||x||^2. That makes the estimate unbiased for a rotation
// drawn uniformly, and nearly so for this transform on rows of hundreds of elements. Rows of a few elements, or with
// nearly all of their weight on a few, are biased. Normalized mean squared error of a long row: pi/2 - 1 = 0.571,
// whatever the distribution of its elements. A row with an infinity or a not-a-number, or with magnitudes beyond about
// 2^112, decodes to not-a-numbers. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_CODECS_ONEBIT_RHT_CODEC_H_
#define BANYAN_COMPRESSION_CODECS_ONEBIT_RHT_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/one_frame_codec.h"

namespace banyan {

class OneBitRhtCodec : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kOneBitRht; }

 protected:
  absl::string_view name() const override { return "onebit_rht"; }
  int64_t FrameBytes(int64_t elements) const override;
  void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const override;
  absl::Status CheckContent(const uint8_t* frame, int64_t elements) const override;
  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override;
  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_ONEBIT_RHT_CODEC_H_
