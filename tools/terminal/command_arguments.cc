#include "tools/terminal/command_arguments.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "topology/overlay/overlay_address.h"

namespace banyan {
namespace {

constexpr char kSamples[] = "deploy/";
constexpr char kFlag[] = "--scheduler";

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool TalksToAScheduler(const std::string& command) {
  constexpr const char* kCommands[] = {"node", "status", "stop", "remove", "reconfigure"};
  return std::find(std::begin(kCommands), std::end(kCommands), command) != std::end(kCommands);
}

bool AsksOnly(const std::string& argument) {
  return argument == "--help" || argument == "-h" || argument == "--version";
}

}  // namespace

std::vector<std::string> WithInstalledSamples(std::vector<std::string> arguments, const std::string& prefix) {
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    // A path stands alone, or behind a flag: --overlay=deploy/overlay.yaml.
    const size_t equals = absl::StartsWith(argument, "--") ? argument.find('=') : std::string::npos;
    const size_t begin = equals == std::string::npos ? 0 : equals + 1;
    const std::string path = argument.substr(begin);
    if (!absl::StartsWith(path, kSamples) || Exists(path)) continue;
    const std::string installed = absl::StrCat(prefix, "/share/banyan/", path.substr(sizeof(kSamples) - 1));
    if (Exists(installed)) argument.replace(begin, path.size(), installed);
  }
  return arguments;
}

absl::StatusOr<std::vector<std::string>> WithDefaultScheduler(std::vector<std::string> arguments,
                                                              const std::string& scheduler) {
  if (scheduler.empty() || arguments.empty() || !TalksToAScheduler(arguments.front())) return arguments;
  for (const std::string& argument : arguments) {
    if (argument == kFlag || absl::StartsWith(argument, absl::StrCat(kFlag, "=")) || AsksOnly(argument)) {
      return arguments;
    }
  }
  if (const absl::Status status = ParseConnectAddresses(scheduler).status(); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("BANYAN_SCHEDULER: ", status.message()));
  }
  arguments.insert(arguments.begin() + 1, {kFlag, scheduler});
  return arguments;
}

}  // namespace banyan
