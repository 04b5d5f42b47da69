#include "compression/error_feedback.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/vector_math.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr uint32_t kExponentBits = 0x7f800000;

BANYAN_VECTOR_CLONES void Subtract(const float* __restrict values, float factor, float* __restrict residual,
                                   size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float dropped = factor * (values[i] - residual[i]);
    const bool is_finite = (std::bit_cast<uint32_t>(dropped) & kExponentBits) != kExponentBits;
    residual[i] = is_finite ? dropped : 0.0f;
  }
}

}  // namespace

void AddResidual(absl::Span<const float> residual, absl::Span<float> values) {
  AddBytesInto(values, {reinterpret_cast<const uint8_t*>(residual.data()), residual.size() * sizeof(float)});
}

void KeepDropped(const CheckedChunk& encoded, absl::Span<const float> values, float factor, Buffer& residual,
                 const ChunkDevice& device) {
  BANYAN_CHECK(std::ssize(values) == residual.elements());
  device.Add(absl::MakeConstSpan(&encoded, 1), true, residual);
  Subtract(values.data(), factor, residual.mutable_floats().data(), values.size());
}

}  // namespace banyan
