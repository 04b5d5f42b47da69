#include "tools/keygen/job_keys.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "access/curve_keys.h"
#include "access/key_file.h"
#include "tools/keygen/overlay_with_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {

namespace {

void AddIfThere(const std::string& path, std::vector<std::string>& paths) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error))) paths.push_back(path);
}

// Leaves no part of it.
absl::Status WriteOverlay(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  std::error_code error;
  std::filesystem::remove(path, error);
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

}  // namespace

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
  const auto path_of = [&folder](const std::string& owner) { return absl::StrCat(folder, "/", owner, ".key"); };
  std::string list = absl::StrCat(folder, "/overlay.yaml");
  std::vector<std::string> in_the_way;
  for (const std::string& owner : owners) AddIfThere(path_of(owner), in_the_way);
  AddIfThere(list, in_the_way);
  if (!in_the_way.empty()) {
    return absl::AlreadyExistsError(
        absl::StrCat(absl::StrJoin(in_the_way, ", "), in_the_way.size() == 1 ? " is" : " are",
                     " there already, and a key is not made again; choose another folder, or move them away"));
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": cannot be made: ", error.message()));
  std::vector<std::string> written;
  absl::Status status = WriteOverlay(list, *with);
  if (status.ok()) written.push_back(list);
  for (const std::string& owner : owners) {
    KeyFile file{made[owner], {}};
    if (owner != kSchedulerKeyOwner) file.scheduler_keys.push_back(listed.scheduler);
    if (status.ok()) status = WriteKeyFile(path_of(owner), file, owner);
    if (status.ok()) written.push_back(path_of(owner));
  }
  if (status.ok()) return list;
  for (const std::string& path : written) std::filesystem::remove(path, error);
  return status;
}

}  // namespace banyan
