#include "compression/kernels/not_finite.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "compression/kernels/vector_clones.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kMagnitude = 0x7fffffff;
// 16 KiB: what was just copied is counted in the first cache.
constexpr size_t kBlock = 4096;

BANYAN_VECTOR_CLONES int32_t CountBlock(const float* values, size_t count) {
  int32_t found = 0;
  for (size_t i = 0; i < count; ++i) found += (std::bit_cast<uint32_t>(values[i]) & kMagnitude) >= kInfinity ? 1 : 0;
  return found;
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

int64_t CountNotFinite(absl::Span<const float> values) {
  int64_t found = 0;
  for (size_t i = 0; i < values.size(); i += kBlock) {
    found += CountBlock(values.data() + i, std::min(kBlock, values.size() - i));
  }
  return found;
}

int64_t CopyCountingNotFinite(absl::Span<const float> from, absl::Span<float> to) {
  BANYAN_CHECK(from.size() == to.size());
  int64_t found = 0;
  for (size_t i = 0; i < from.size(); i += kBlock) {
    const size_t count = std::min(kBlock, from.size() - i);
    std::memcpy(to.data() + i, from.data() + i, count * sizeof(float));
    // Of the copy: what another thread writes meanwhile counts as it was taken.
    found += CountBlock(to.data() + i, count);
  }
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
