#include "runtime/transport/security_options.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "access/key_file.h"
#include "proto/access_list.h"

namespace banyan {

absl::StatusOr<SecurityOptions> ReadSecurity(const std::string& path, const std::vector<std::string>& scheduler_keys,
                                             bool is_scheduler) {
  const absl::StatusOr<KeyFile> file = ReadKeyFile(path);
  if (!file.ok()) return file.status();
  SecurityOptions security{file->keys, scheduler_keys.empty() ? file->scheduler_keys : scheduler_keys};
  if (security.scheduler_keys.empty() && !is_scheduler) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": says no scheduler_public_key; add it, or give --scheduler-key"));
  }
  for (const std::string& key : security.scheduler_keys) {
    if (IsKeyText(key)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the public key of the scheduler: expected 40 characters of Z85, got '", key, "'"));
  }
  return security;
}

}  // namespace banyan
