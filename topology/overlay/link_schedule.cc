#include "topology/overlay/link_schedule.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/digest.h"
#include "core/random.h"
#include "core/units.h"
#include "topology/overlay/link_fields.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {
namespace {

void ReadChange(const YamlValue& value, const std::string& where, const NetworkView& view, YamlProblems& problems,
                std::vector<LinkChange>& changes) {
  YamlMapReader map(value, where, problems);
  const std::optional<double> seconds =
      RequireNumber(map, "at_seconds", {0, kMostSeconds, /*low_allowed=*/true, NumberUnit::kSeconds}, problems);
  const std::optional<double> mbps =
      RequireNumber(map, "mbps", {kLeastMbps, kMostMbps, /*low_allowed=*/true, NumberUnit::kMegabits}, problems);
  const std::optional<std::pair<NodeId, NodeId>> ends = ReadLinkEnds(map, where, view, problems);
  map.Finish();
  if (!seconds.has_value() || !mbps.has_value() || !ends.has_value()) return;
  changes.push_back({absl::Seconds(*seconds), ends->first, ends->second, *mbps * kBitsPerMegabit});
}

}  // namespace

absl::StatusOr<std::vector<LinkChange>> ParseLinkChanges(absl::string_view text, absl::string_view file_name,
                                                         const NetworkView& view) {
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, file_name);
  if (!document.ok()) return document.status();
  YamlProblems problems(file_name);
  YamlMapReader file(document->root(), "", problems);
  const YamlValue* list = file.Require("changes");
  std::vector<LinkChange> changes;
  if (list != nullptr && list->kind != YamlValue::Kind::kSequence) {
    problems.Add(list->place, absl::StrCat("changes: expected a list of changes, got ", Describe(*list)));
  } else if (list != nullptr) {
    for (size_t i = 0; i < list->items.size(); ++i) {
      ReadChange(*list->items[i], absl::StrCat("changes[", i, "]"), view, problems, changes);
    }
  }
  file.Finish();
  if (!problems.status().ok()) return problems.status();
  std::stable_sort(changes.begin(), changes.end(),
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
