#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/vector_math.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kMagnitude = 0x7fffffff;
// 16 KiB: what was just copied is counted in the first cache.
constexpr int64_t kBlockBytes = 16384;
constexpr size_t kBlock = kBlockBytes / sizeof(float);

BANYAN_VECTOR_CLONES int32_t CountFloats(const float* values, size_t count) {
  int32_t found = 0;
  for (size_t i = 0; i < count; ++i) found += (std::bit_cast<uint32_t>(values[i]) & kMagnitude) >= kInfinity ? 1 : 0;
  return found;
}

// `infinity`: that of the format.
BANYAN_VECTOR_CLONES int32_t CountHalves(const uint16_t* values, size_t count, uint16_t infinity) {
  constexpr uint16_t kMagnitudeOfHalf = 0x7fff;
  int32_t found = 0;
  for (size_t i = 0; i < count; ++i) found += (values[i] & kMagnitudeOfHalf) >= infinity ? 1 : 0;
  return found;
}

BANYAN_VECTOR_CLONES int32_t CountDoubles(const double* values, size_t count) {
  constexpr uint64_t kInfiniteDouble = 0x7ff0000000000000;
  constexpr uint64_t kMagnitudeOfDouble = 0x7fffffffffffffff;
  int32_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    found += (std::bit_cast<uint64_t>(values[i]) & kMagnitudeOfDouble) >= kInfiniteDouble ? 1 : 0;
  }
  return found;
}

int32_t CountBlock(DataType type, const void* values, size_t count) {
  switch (type) {
    case DataType::kFloat32:
      return CountFloats(static_cast<const float*>(values), count);
    case DataType::kFloat16:
      return CountHalves(static_cast<const uint16_t*>(values), count, 0x7c00);
    case DataType::kBFloat16:
      return CountHalves(static_cast<const uint16_t*>(values), count, 0x7f80);
    case DataType::kFloat64:
      return CountDoubles(static_cast<const double*>(values), count);
    default:  // integers, and what is no gradient
      return 0;
  }
}

// Calls use(first byte, bytes) for each block.
template <typename Use>
void ForEachBlock(int64_t size_bytes, Use use) {
  for (int64_t at = 0; at < size_bytes; at += kBlockBytes) use(at, std::min(kBlockBytes, size_bytes - at));
}

BANYAN_VECTOR_CLONES int32_t CountBetween(const float* values, size_t count, uint32_t least) {
  int32_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(values[i]) & kMagnitude;
    // Both in one comparison: what is below `least` wraps around.
    found += magnitude - least < kInfinity - least ? 1 : 0;
  }
  return found;
}

}  // namespace

int64_t CountNotFinite(ConstTensorView values) {
  int64_t found = 0;
  const auto* const bytes = static_cast<const uint8_t*>(values.data());
  ForEachBlock(values.size_bytes(), [&](int64_t at, int64_t size) {
    found += CountBlock(values.type(), bytes + at, size / SizeOf(values.type()));
  });
  return found;
}

int64_t CopyCountingNotFinite(ConstTensorView from, TensorView to) {
  BANYAN_CHECK(from.elements() == to.elements() && from.type() == to.type());
  int64_t found = 0;
  const auto* const source = static_cast<const uint8_t*>(from.data());
  uint8_t* const target = to.bytes().data();
  ForEachBlock(from.size_bytes(), [&](int64_t at, int64_t size) {
    std::memcpy(target + at, source + at, size);
    // Of the copy: what another thread writes meanwhile counts as it was taken.
    found += CountBlock(to.type(), target + at, size / SizeOf(to.type()));
  });
  return found;
}

bool HasFiniteFrom(absl::Span<const float> values, float least) {
  const uint32_t bits = std::bit_cast<uint32_t>(least);
  BANYAN_CHECK(bits > 0 && bits < kInfinity);
  for (size_t i = 0; i < values.size(); i += kBlock) {
    if (CountBetween(values.data() + i, std::min(kBlock, values.size() - i), bits) > 0) return true;
  }
  return false;
}

}  // namespace banyan
