#include "tools/rate_range.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace banyan {
namespace {

constexpr double kMostMbps = 1e6;

}  // namespace

std::string RateRange::ToString() const { return absl::StrCat(low_mbps, "-", high_mbps); }

absl::StatusOr<RateRange> ParseRateRange(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(text, absl::MaxSplits('-', 1));
  RateRange range;
  const bool are_numbers =
      absl::SimpleAtod(ends.first, &range.low_mbps) && absl::SimpleAtod(ends.second, &range.high_mbps);
  if (are_numbers && range.low_mbps > 0 && range.high_mbps >= range.low_mbps && range.high_mbps <= kMostMbps) {
    return range;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected two rates in Mbit/s, the lower one first, such as 20-155, got '", text, "'"));
}

}  // namespace banyan
