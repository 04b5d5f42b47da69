// Where a scheduler keeps what must survive it. Pure functions.
#ifndef BANYAN_TOOLS_DAEMON_STATE_PLACE_H_
#define BANYAN_TOOLS_DAEMON_STATE_PLACE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

enum class StatePlaceKind { kDirectory, kEtcd, kNowhere };

struct StatePlace {
  StatePlaceKind kind = StatePlaceKind::kNowhere;
  std::string directory;  // of kDirectory

  // In words: "in /var/lib/banyan", "in etcd at http://a:2379".
  std::string Describe(const OverlayConfig& overlay) const;
};

// Follows the overlay and the flags --state-dir (empty: not given) and --forgetful. By default it is a directory of the
// job in `state_home`, where this user's programs keep state; empty: unknown. INVALID_ARGUMENT says what contradicts.
absl::StatusOr<StatePlace> ChooseStatePlace(const OverlayConfig& overlay, const std::string& directory, bool forgetful,
                                            const std::string& state_home);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_STATE_PLACE_H_
