#include "tools/keygen/job_keys.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "access/curve_keys.h"
#include "access/key_file.h"
#include "tools/keygen/overlay_with_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {

absl::StatusOr<std::string> MakeJobKeys(absl::string_view text, const std::string& file_name,
                                        const std::string& folder) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, file_name);
  if (!overlay.ok()) return overlay.status();
  std::vector<std::string> owners = {kSchedulerKeyOwner, kOperatorKeyOwner, kObserverKeyOwner};
  for (const NodeConfig& node : overlay->nodes) owners.push_back(node.name);
  std::map<std::string, CurveKeys> made;
  for (const std::string& owner : owners) {
    if (made.emplace(owner, MakeCurveKeys()).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ": a node is called ", owner, ", as is another file of keys; name it otherwise"));
  }
  JobPublicKeys listed{
      made[kSchedulerKeyOwner].public_key, {}, made[kOperatorKeyOwner].public_key, made[kObserverKeyOwner].public_key};
  for (const NodeConfig& node : overlay->nodes) listed.nodes[node.name] = made[node.name].public_key;
  absl::StatusOr<std::string> with = WithPublicKeys(text, file_name, listed);
  if (!with.ok()) return with.status();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": cannot be made: ", error.message()));
  for (const std::string& owner : owners) {
    KeyFile file{made[owner], {}};
    if (owner != kSchedulerKeyOwner) file.scheduler_keys.push_back(listed.scheduler);
    absl::Status status = WriteKeyFile(absl::StrCat(folder, "/", owner, ".key"), file, owner);
    if (!status.ok()) return status;
  }
  return with;
}

}  // namespace banyan
