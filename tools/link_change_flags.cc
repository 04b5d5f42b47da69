#include "tools/link_change_flags.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace banyan {
namespace {

constexpr double kMostSeconds = 1e6;
constexpr double kMostMbps = 1e6;
constexpr double kBitsPerMegabit = 1e6;

// "20-155"
absl::Status ReadRates(absl::string_view value, std::optional<std::pair<double, double>>& rates) {
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(value, absl::MaxSplits('-', 1));
  double low = 0;
  double high = 0;
  if (!absl::SimpleAtod(ends.first, &low) || !absl::SimpleAtod(ends.second, &high) || !(low > 0) || !(high >= low) ||
      high > kMostMbps) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected two rates in Mbit/s, the lower one first, such as 20-155, got '", value, "'"));
  }
  rates = {low, high};
  return absl::OkStatus();
}

}  // namespace

void LinkChangeFlags::AddTo(CommandLine& line) {
  line.Text("changes", "FILE.yaml", "changes: [{at_seconds, from, to, mbps}, ..] of links while it runs", &changes_);
  line.Number("redraw-seconds", "S", "draw the rates of links anew this often", 0.001, kMostSeconds, &redraw_seconds_);
  line.Custom("redraw-mbps", "LOW-HIGH", "uniformly between these (20-155)",
              [this](absl::string_view value) { return ReadRates(value, redraw_mbps_); });
  line.Number("redraw-fraction", "F", "of so many of the links (default 1)", 0, 1, &redraw_fraction_);
}

absl::Status LinkChangeFlags::Check() const {
  if ((redraw_seconds_ > 0) == redraw_mbps_.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError("--redraw-seconds and --redraw-mbps come together");
}

std::optional<LinkRedraw> LinkChangeFlags::Redraw(uint64_t seed) const {
  if (!redraw_mbps_.has_value()) return std::nullopt;
  return LinkRedraw{absl::Seconds(redraw_seconds_), redraw_mbps_->first * kBitsPerMegabit,
                    redraw_mbps_->second * kBitsPerMegabit, redraw_fraction_, seed};
}

absl::StatusOr<std::vector<LinkChange>> LinkChangeFlags::LoadChanges(const NetworkView& view) const {
  if (changes_.empty()) return std::vector<LinkChange>();
  return LoadLinkChanges(changes_, view);
}

}  // namespace banyan
