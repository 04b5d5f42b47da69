#include "compression/counts/scale_sum.h"

#include <cmath>
#include <limits>

#include "core/check.h"

namespace banyan {
namespace {

constexpr float kLargestScale = 0x1p28f;

}  // namespace

ScaleSum ScaleSum::Of(float scale) {
  if (!(scale <= kLargestScale)) return ScaleSum(absl::Uint128Max());
  BANYAN_CHECK(scale >= 0);
  return ScaleSum(static_cast<absl::uint128>(std::ldexp(static_cast<double>(scale), -kUnitExponent)));
}

void ScaleSum::Add(const ScaleSum& other) {
  // What another process wrote may be anything: a sum that does not fit is not finite either.
  const absl::uint128 room = absl::Uint128Max() - units_;
  units_ = other.units_ > room ? absl::Uint128Max() : units_ + other.units_;
}

float ScaleSum::Mean(int64_t voters) const {
  if (!is_finite()) return std::numeric_limits<float>::quiet_NaN();
  if (voters == 0) return 0;
  return static_cast<float>(std::ldexp(static_cast<double>(units_), kUnitExponent) / static_cast<double>(voters));
}

}  // namespace banyan
