// The sum of the voters' scales in fixed point, so that no order of adding can change a bit of it. A scale is the mean
// magnitude of a slice. Plain value.
#ifndef BANYAN_COMPRESSION_COUNTS_SCALE_SUM_H_
#define BANYAN_COMPRESSION_COUNTS_SCALE_SUM_H_

#include <cstdint>

#include "absl/numeric/int128.h"

namespace banyan {

class ScaleSum {
 public:
  // Units of 2^-80: a scale from 2^-57 to 2^28 is exact, whatever smaller one is within a unit. A larger or not finite
  // one makes the sum not finite, and that stays.
  static constexpr int kUnitExponent = -80;
  static constexpr int kBytes = 16;

  ScaleSum() = default;
  // REQUIRES: scale is not below zero; a not-a-number is none.
  static ScaleSum Of(float scale);
  // Of units(), as another process wrote them. Any value is one.
  static ScaleSum OfUnits(absl::uint128 units) { return ScaleSum(units); }

  // REQUIRES: sums of at most kMaxVotes scales altogether.
  void Add(const ScaleSum& other);
  // The mean over `voters`; 0 without any. A not-a-number when the sum is not finite.
  float Mean(int64_t voters) const;

  bool is_finite() const { return units_ != absl::Uint128Max(); }
  absl::uint128 units() const { return units_; }
  bool operator==(const ScaleSum& other) const { return units_ == other.units_; }

 private:
  explicit ScaleSum(absl::uint128 units) : units_(units) {}

  absl::uint128 units_ = 0;  // all ones: not finite
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COUNTS_SCALE_SUM_H_
