#include "tools/doctor/key_check.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "access/key_file.h"

namespace banyan {

CheckResult CheckKey(const OverlayConfig& overlay, const std::string& site, const std::vector<std::string>& folders) {
  const auto node = std::find_if(overlay.nodes.begin(), overlay.nodes.end(),
                                 [&site](const NodeConfig& candidate) { return candidate.name == site; });
  const std::string& listed = node == overlay.nodes.end() ? overlay.scheduler.public_key : node->public_key;
  const std::string path = FindKeyFile(folders, site);
  if (listed.empty()) {
    return {
        "key", true,
        absl::StrCat("the overlay lists none for ", site,
                     ": reached from other machines, its daemon starts with --insecure alone; `banyan keygen --all` "
                     "makes the keys of a job")};
  }
  if (path.empty()) {
    return {"key", false,
            absl::StrCat("the overlay lists one for ", site, ", and there is no ", site, ".key in ",
                         absl::StrJoin(folders, ", "), "; bring it here, or start the daemon with --key")};
  }
  const absl::StatusOr<KeyFile> file = ReadKeyFile(path);
  if (!file.ok()) return {"key", false, std::string(file.status().message())};
  if (file->keys.public_key == listed) return {"key", true, absl::StrCat(path, " is that which the overlay lists")};
  const auto owner = std::find_if(overlay.nodes.begin(), overlay.nodes.end(), [&file](const NodeConfig& candidate) {
    return candidate.public_key == file->keys.public_key;
  });
  return {"key", false,
          absl::StrCat(path, " is not that which the overlay lists for ", site,
                       owner == overlay.nodes.end() ? "" : absl::StrCat(", but that of ", owner->name),
                       "; bring the right one, or list this one: public_key: '", file->keys.public_key, "'")};
}

}  // namespace banyan
