// What entries of files about links have in common: numbers that must be there, and the link that they speak of. Free
// functions; thread-safe on distinct problems.
#ifndef BANYAN_TOPOLOGY_OVERLAY_LINK_FIELDS_H_
#define BANYAN_TOPOLOGY_OVERLAY_LINK_FIELDS_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

// What an overlay may say of a link: the least and the most.
inline constexpr double kMostSeconds = 1e8;
inline constexpr double kLeastMbps = 1e-6;
inline constexpr double kMostMbps = 1e6;

// Returns the number under `key` within `range`; empty, and the problem is noted, when there is none.
std::optional<double> RequireNumber(YamlMapReader& map, absl::string_view key, const NumberRange& range,
                                    YamlProblems& problems);

// Returns the link that `from` and `to` name in the entry at `where`; empty, and the problem is noted, when `view` has
// none.
std::optional<std::pair<NodeId, NodeId>> ReadLinkEnds(YamlMapReader& map, const std::string& where,
                                                      const NetworkView& view, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_LINK_FIELDS_H_
