// What entries of files about links have in common: the link that they speak of, and the limits of its rates and times.
// Free functions; thread-safe on distinct values.
#ifndef BANYAN_TOPOLOGY_OVERLAY_LINK_FIELDS_H_
#define BANYAN_TOPOLOGY_OVERLAY_LINK_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/overlay/yaml_slots.h"

namespace banyan {

inline constexpr NumberRange kScheduledMbps = {.low = 1e-6, .high = 1e6, .unit = NumberUnit::kMegabits};
inline constexpr double kMostScheduledSeconds = 1e8;

// Returns the slot of an entry of `more` keys and the link `from` and `to`, which `view` must have.
YamlSlot LinkEntry(NodeId& from, NodeId& to, const NetworkView& view, std::vector<YamlKey> more);

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

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_LINK_FIELDS_H_
