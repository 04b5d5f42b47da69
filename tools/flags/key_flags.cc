#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "access/exposure.h"
#include "access/key_file.h"
#include "posix/process_limits.h"
#include "tools/flags/shared_flags.h"

namespace banyan {

void KeyFlags::AddTo(CommandLine& line, Use use) {
  use_ = use;
  line.Text("key", "FILE",
            use == Use::kCommand
                ? "the secret key of an operator or an observer, as banyan keygen makes it; default: operator.key or "
                  "observer.key in keys, this folder, ~/.config/banyan or /etc/banyan, else none"
                : "its secret key, as banyan keygen makes it; default: $BANYAN_KEY, or its name with .key beside the "
                  "overlay, in keys, this folder, ~/.config/banyan or /etc/banyan, else none",
            &file_);
  if (use == Use::kCommand) {
    owners_ = {"operator", "observer"};
    // There it is the key of a node.
    line.WithoutVariable("key");
  }
  if (use != Use::kScheduler) {
    line.Text("scheduler-key", "KEYS",
              "the public key of the schedulers; of several, with commas between them; default: as the key file says",
              &scheduler_keys_);
  }
  if (use == Use::kCommand) return;
  line.Switch("insecure", "no authentication or encryption, although other machines can connect", &insecure_);
  line.Exclude("insecure", "key");
}

void KeyFlags::BelongTo(const std::string& owner, const std::string& overlay) {
  owners_ = {owner};
  overlay_ = overlay;
}

std::string KeyFlags::file() const {
  if (!file_.empty() || insecure_) return file_;
  for (const std::string& folder : KeyFolders(overlay_)) {
    for (const std::string& owner : owners_) {
      if (std::string found = owner.empty() ? "" : FindKeyFile({folder}, owner); !found.empty()) return found;
    }
  }
  return "";
}

absl::StatusOr<std::optional<SecurityOptions>> KeyFlags::Read() const {
  const std::string file = this->file();
  if (file.empty()) {
    if (scheduler_keys_.empty()) return std::nullopt;
    return absl::InvalidArgumentError("--scheduler-key requires --key; add it, or leave the other out");
  }
  KeepMemorySecret();
  const std::vector<std::string> keys = absl::StrSplit(scheduler_keys_, ',', absl::SkipEmpty());
  absl::StatusOr<SecurityOptions> security = ReadSecurity(file, keys, use_ == Use::kScheduler);
  if (!security.ok()) return security.status();
  return *std::move(security);
}

absl::Status KeyFlags::CheckAddresses(const std::vector<std::string>& addresses) const {
  return CheckExposure(addresses, !file().empty(), insecure_);
}

std::vector<std::string> KeyFolders(const std::string& overlay) {
  std::vector<std::string> folders;
  if (!overlay.empty() && overlay != "-") {
    const std::string beside = std::filesystem::path(overlay).parent_path().string();
    folders.push_back(beside.empty() ? "." : beside);
  }
  folders.insert(folders.end(), {"keys", "."});
  if (const std::string home = CommandLine::Variable("HOME"); absl::StartsWith(home, "/")) {
    folders.push_back(home + "/.config/banyan");
  }
  folders.push_back("/etc/banyan");
  return folders;
}

}  // namespace banyan
