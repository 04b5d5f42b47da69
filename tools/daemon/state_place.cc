#include "tools/daemon/state_place.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {

std::string StatePlace::Describe(const OverlayConfig& overlay) const {
  switch (kind) {
    case StatePlaceKind::kDirectory:
      return absl::StrCat("in ", directory);
    case StatePlaceKind::kEtcd:
      return absl::StrCat("in etcd at ", absl::StrJoin(overlay.scheduler.etcd, ", "));
    case StatePlaceKind::kNowhere:
      break;
  }
  return "nowhere: the job ends with this process, and nodes and training must start again (--forgetful)";
}

absl::StatusOr<StatePlace> ChooseStatePlace(const OverlayConfig& overlay, const std::string& directory, bool forgetful,
                                            const std::string& state_home) {
  if (forgetful && !directory.empty()) {
    return absl::InvalidArgumentError("expected --state-dir or --forgetful, got both; leave one of them out");
  }
  if (!overlay.scheduler.etcd.empty()) {
    if (!forgetful && directory.empty()) return StatePlace{StatePlaceKind::kEtcd, ""};
    return absl::InvalidArgumentError(absl::StrCat("expected no ", forgetful ? "--forgetful" : "--state-dir",
                                                   ", since scheduler.etcd of ", overlay.file_name,
                                                   " says where the state is; leave the flag out, or that key"));
  }
  if (forgetful) return StatePlace{StatePlaceKind::kNowhere, ""};
  if (!directory.empty()) return StatePlace{StatePlaceKind::kDirectory, directory};
  if (state_home.empty()) {
    return absl::InvalidArgumentError(
        "expected --state-dir, where the state is kept, since neither XDG_STATE_HOME nor HOME tells; or --forgetful");
  }
  return StatePlace{StatePlaceKind::kDirectory, absl::StrCat(state_home, "/banyan/", overlay.job)};
}

}  // namespace banyan
