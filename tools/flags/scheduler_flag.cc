#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/flags/shared_flags.h"
#include "topology/overlay/overlay_address.h"

namespace banyan {

void AddSchedulerFlag(CommandLine& line, absl::string_view otherwise, std::string* addresses) {
  line.Custom("scheduler", "ADDRESSES",
              absl::StrCat("where the scheduler is, tcp://host:port; of several, with commas between them; default: "
                           "$BANYAN_SCHEDULER",
                           otherwise),
              [addresses](absl::string_view text) {
                *addresses = std::string(text);
                return ParseConnectAddresses(*addresses).status();
              });
}

absl::StatusOr<std::vector<std::string>> ReadSchedulerFlag(const std::string& addresses) {
  if (addresses.empty()) {
    return absl::InvalidArgumentError(
        "expected --scheduler or the variable BANYAN_SCHEDULER, the address of the scheduler, such as "
        "tcp://10.0.0.1:7700");
  }
  absl::StatusOr<std::vector<std::string>> read = ParseConnectAddresses(addresses);
  if (read.ok()) return read;
  return absl::InvalidArgumentError(absl::StrCat("--scheduler: ", read.status().message()));
}

}  // namespace banyan
