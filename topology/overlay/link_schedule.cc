#include "topology/overlay/link_schedule.h"

#include <algorithm>
#include <cmath>

#include "core/digest.h"
#include "core/random.h"
#include "topology/overlay/link_fields.h"

namespace banyan {

absl::StatusOr<std::vector<LinkChange>> ParseLinkChanges(absl::string_view text, absl::string_view file_name,
                                                         const NetworkView& view) {
  absl::StatusOr<std::vector<LinkChange>> changes =
      ReadLinkEntries<LinkChange>(text, file_name, "changes", "of changes", [&view](LinkChange& change) {
        return LinkEntry(change.from, change.to, view,
                         {{"at_seconds", Required(Number(change.at, Seconds(0, kMostScheduledSeconds)))},
                          {"mbps", Required(Number(change.rate_bps, kScheduledMbps))}});
      });
  if (!changes.ok()) return changes.status();
  std::stable_sort(changes->begin(), changes->end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  return changes;
}

absl::StatusOr<std::vector<LinkChange>> LoadLinkChanges(const std::string& path, const NetworkView& view) {
  const absl::StatusOr<std::string> text = ReadOverlayText(path);
  if (!text.ok()) return text.status();
  return ParseLinkChanges(*text, path, view);
}

std::vector<LinkChange> DrawLinkChanges(const LinkRedraw& redraw, uint64_t index,
                                        absl::Span<const std::pair<NodeId, NodeId>> links) {
  Random random(Digest({redraw.seed, index}));
  std::vector<std::pair<NodeId, NodeId>> chosen(links.begin(), links.end());
  const auto count = static_cast<size_t>(std::llround(redraw.fraction * static_cast<double>(chosen.size())));
  std::vector<LinkChange> changes;
  for (size_t i = 0; i < std::min(count, chosen.size()); ++i) {
    std::swap(chosen[i], chosen[i + random.Below(chosen.size() - i)]);
    const double rate_bps = redraw.low_bps + (redraw.high_bps - redraw.low_bps) * random.Unit();
    changes.push_back({redraw.period * static_cast<double>(index), chosen[i].first, chosen[i].second, rate_bps});
  }
  return changes;
}

}  // namespace banyan
