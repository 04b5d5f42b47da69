#include "tools/rate_range.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/quantity.h"

namespace banyan {
namespace {

constexpr double kMostMbps = 1e6;

}  // namespace

std::string RateRange::ToString() const { return absl::StrCat(low_mbps, "-", high_mbps); }

absl::StatusOr<RateRange> ParseRateRange(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(text, absl::MaxSplits('-', 1));
  const absl::StatusOr<double> high_bps = ParseBitsPerSecond(ends.second);
  // "20-155Mbit/s": the unit is that of both.
  const size_t unit = ends.second.find_first_not_of("0123456789.");
  const bool shares_unit = ends.first.find_first_not_of("0123456789.") == absl::string_view::npos;
  const absl::StatusOr<double> low_bps = ParseBitsPerSecond(
      absl::StrCat(ends.first, shares_unit && unit != absl::string_view::npos ? ends.second.substr(unit) : ""));
  RateRange range{low_bps.value_or(0) / 1e6, high_bps.value_or(0) / 1e6};
  if (range.low_mbps > 0 && range.high_mbps >= range.low_mbps && range.high_mbps <= kMostMbps) {
    return range;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected two rates in Mbit/s, the lower one first, such as 20-155, got '", text, "'"));
}

}  // namespace banyan
