#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/flags/shared_flags.h"

namespace banyan {
namespace {

constexpr double kMostSeconds = 1e6;

}  // namespace

void LinkChangeFlags::AddTo(CommandLine& line) {
  line.Text("changes", "FILE.yaml", "changes: [{at_seconds, from, to, mbps}, ..] of links while it runs", &changes_);
  line.Time("redraw-interval", "TIME", "change the rates of links at random this often", absl::Seconds(1), 0.001,
            kMostSeconds, &redraw_seconds_);
  line.FormerName("redraw-interval", "redraw-seconds");
  line.Custom("redraw-rates", "LOW-HIGH", "uniformly between these (20-155)", [this](absl::string_view value) {
    const absl::StatusOr<RateRange> range = ParseRateRange(value);
    if (range.ok()) redraw_rates_ = *range;
    return range.status();
  });
  line.FormerName("redraw-rates", "redraw-mbps");
  line.Number("redraw-fraction", "F", "of so many of the links (default 1)", 0, 1, &redraw_fraction_);
  line.Needs("redraw-interval", "redraw-rates");
  line.Needs("redraw-rates", "redraw-interval");
  line.Needs("redraw-fraction", "redraw-interval");
}

std::optional<LinkRedraw> LinkChangeFlags::Redraw(uint64_t seed) const {
  if (!redraw_rates_.has_value()) return std::nullopt;
  return LinkRedraw{absl::Seconds(redraw_seconds_), redraw_rates_->low_bps(), redraw_rates_->high_bps(),
                    redraw_fraction_, seed};
}

absl::StatusOr<std::vector<LinkChange>> LinkChangeFlags::LoadChanges(const NetworkView& view) const {
  if (changes_.empty()) return std::vector<LinkChange>();
  return LoadLinkChanges(changes_, view);
}

}  // namespace banyan
