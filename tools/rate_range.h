// The range from which links' rates are drawn anew, as flags write it: "20-155". Value.
#ifndef BANYAN_TOOLS_RATE_RANGE_H_
#define BANYAN_TOOLS_RATE_RANGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// The defaults are those of NETSTORM's evaluation (section IX-A).
struct RateRange {
  double low_mbps = 20;
  double high_mbps = 155;

  double low_bps() const { return low_mbps * 1e6; }
  double high_bps() const { return high_mbps * 1e6; }
  std::string ToString() const;
};

// INVALID_ARGUMENT for anything but two rates above 0, the lower one first.
absl::StatusOr<RateRange> ParseRateRange(absl::string_view text);

}  // namespace banyan

#endif  // BANYAN_TOOLS_RATE_RANGE_H_
