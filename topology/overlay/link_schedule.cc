#include "topology/overlay/link_schedule.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/digest.h"
#include "core/random.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/overlay/yaml_slots.h"

namespace banyan {
namespace {

constexpr NumberRange kScheduledMbps = {.low = 1e-6, .high = 1e6, .unit = NumberUnit::kMegabits};
constexpr double kMostScheduledSeconds = 1e8;

YamlSlot NodeOf(NodeId& out, const NetworkView& view) {
  YamlSlot slot = {.form = "name"};
  slot.read = [&](const YamlSpot& at) {
    const std::optional<std::string> name = ReadName(at.value, at.where, at.problems);
    const NetworkNode* const node = name.has_value() ? view.FindNodeByName(*name) : nullptr;
    if (node != nullptr) out = node->id;
    if (node != nullptr || !name.has_value()) return;
    at.Refuse(absl::StrCat("expected a node of the overlay, got '", *name, "'"));
  };
  return slot;
}

// Returns the slot of an entry of `more` keys and the link `from` and `to`, which `view` must have.
YamlSlot LinkEntry(NodeId& from, NodeId& to, const NetworkView& view, std::vector<YamlKey> more) {
  more.push_back({"from", Required(NodeOf(from, view))});
  more.push_back({"to", Required(NodeOf(to, view))});
  return Map(std::move(more), [&](YamlMapReader& map, YamlProblems& problems) {
    if (!problems.status().ok() || view.FindLink(from, to) != nullptr) return;
    problems.Add(map.place(), absl::StrCat(map.where(), ": the overlay has no link from ", view.NameOf(from), " to ",
                                           view.NameOf(to)));
  });
}

// Reads `KEY: [entry, ..]`, "a list of WHAT" in messages, with nothing beside it. INVALID_ARGUMENT reads
// `file:line: ...`.
template <typename T>
absl::StatusOr<std::vector<T>> ReadLinkEntries(absl::string_view text, absl::string_view file_name, const char* key,
                                               const char* what, std::function<YamlSlot(T&)> slot_of) {
  std::vector<T> entries;
  const absl::Status status =
      ReadYaml(text, file_name, Map({{key, Required(List<T>(entries, what, std::move(slot_of)))}}));
  if (!status.ok()) return status;
  return entries;
}

}  // namespace

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
