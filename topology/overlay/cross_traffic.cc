#include "topology/overlay/cross_traffic.h"

#include "topology/overlay/link_fields.h"

namespace banyan {

bool IsOn(const CrossTraffic& traffic, absl::Duration elapsed) {
  if (elapsed < traffic.first_at) return false;
  absl::Duration in_period;
  absl::IDivDuration(elapsed - traffic.first_at, traffic.on + traffic.off, &in_period);
  return in_period < traffic.on;
}

absl::Duration NextBurst(const CrossTraffic& traffic, absl::Duration elapsed) {
  if (elapsed < traffic.first_at) return traffic.first_at;
  absl::Duration in_period;
  const absl::Duration period = traffic.on + traffic.off;
  absl::IDivDuration(elapsed - traffic.first_at, period, &in_period);
  return elapsed - in_period + period;
}

absl::StatusOr<std::vector<CrossTraffic>> ParseCrossTraffic(absl::string_view text, absl::string_view file_name,
                                                            const NetworkView& view) {
  return ReadLinkEntries<CrossTraffic>(text, file_name, "traffic", "of bursts", [&view](CrossTraffic& traffic) {
    return LinkEntry(traffic.from, traffic.to, view,
                     {{"mbps", Required(Number(traffic.rate_bps, kScheduledMbps))},
                      {"on_seconds", Required(Number(traffic.on, Seconds(1e-3, kMostScheduledSeconds)))},
                      {"off_seconds", Required(Number(traffic.off, Seconds(0, kMostScheduledSeconds)))},
                      {"first_at_seconds", Number(traffic.first_at, Seconds(0, kMostScheduledSeconds))}});
  });
}

absl::StatusOr<std::vector<CrossTraffic>> LoadCrossTraffic(const std::string& path, const NetworkView& view) {
  const absl::StatusOr<std::string> text = ReadOverlayText(path);
  if (!text.ok()) return text.status();
  return ParseCrossTraffic(*text, path, view);
}

}  // namespace banyan
