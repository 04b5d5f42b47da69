#include "tools/flags/key_flags.h"

#include "absl/strings/str_split.h"
#include "access/exposure.h"
#include "posix/secret_memory.h"

namespace banyan {

void KeyFlags::AddTo(CommandLine& line, Use use) {
  use_ = use;
  line.Text("key", "FILE",
            use == Use::kCommand
                ? "the secret key of an operator or an observer, as banyan keygen makes it; default: operator.key or "
                  "observer.key in ~/.config/banyan or /etc/banyan, else none"
                : "its secret key, as banyan keygen makes it; default: its name with .key in ~/.config/banyan or "
                  "/etc/banyan, else none",
            &file_);
  if (use != Use::kScheduler) {
    line.Text("scheduler-key", "KEYS",
              "the public key of the schedulers; of several, with commas between them; default: as the key file says",
              &scheduler_keys_);
    line.Needs("scheduler-key", "key");
  }
  if (use == Use::kCommand) return;
  line.Switch("insecure", "go without keys where other machines reach it: whoever does may speak as anybody",
              &insecure_);
  line.Exclude("insecure", "key");
}

absl::StatusOr<std::optional<SecurityOptions>> KeyFlags::Read() const {
  if (file_.empty()) return std::nullopt;
  KeepMemorySecret();
  const std::vector<std::string> keys = absl::StrSplit(scheduler_keys_, ',', absl::SkipEmpty());
  absl::StatusOr<SecurityOptions> security = ReadSecurity(file_, keys, use_ == Use::kScheduler);
  if (!security.ok()) return security.status();
  return *std::move(security);
}

absl::Status KeyFlags::CheckAddresses(const std::vector<std::string>& addresses) const {
  return CheckExposure(addresses, !file_.empty(), insecure_);
}

}  // namespace banyan
