#include "tools/terminal/command_arguments.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "access/key_file.h"
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

// Returns whether `argument` is `flag`, with or without a value behind it.
bool Is(const std::string& argument, absl::string_view flag) {
  return argument == flag || absl::StartsWith(argument, absl::StrCat(flag, "="));
}

// Returns the value of `flag`; empty when it is not there.
std::string ValueOf(const std::vector<std::string>& arguments, const std::string& flag) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == flag && i + 1 < arguments.size()) return arguments[i + 1];
    if (absl::StartsWith(arguments[i], flag + "=")) return arguments[i].substr(flag.size() + 1);
  }
  return "";
}

// Returns whose key a process may have, the likeliest first.
std::vector<std::string> KeyOwners(const std::vector<std::string>& arguments) {
  const std::string& command = arguments.front();
  if (command == "scheduler") return {"scheduler"};
  if (command == "node") return {ValueOf(arguments, "--name")};
  return TalksToAScheduler(command) ? std::vector<std::string>{"operator", "observer"} : std::vector<std::string>();
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
    if (Is(argument, kFlag) || AsksOnly(argument)) {
      return arguments;
    }
  }
  if (const absl::Status status = ParseConnectAddresses(scheduler).status(); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("BANYAN_SCHEDULER: ", status.message()));
  }
  arguments.insert(arguments.begin() + 1, {kFlag, scheduler});
  return arguments;
}

std::vector<std::string> WithDefaultKey(std::vector<std::string> arguments, const std::vector<std::string>& folders) {
  if (arguments.empty()) return arguments;
  for (const std::string& argument : arguments) {
    if (Is(argument, "--key") || argument == "--insecure" || AsksOnly(argument)) return arguments;
  }
  for (const std::string& owner : KeyOwners(arguments)) {
    const std::string file = owner.empty() ? "" : FindKeyFile(folders, owner);
    if (file.empty()) continue;
    arguments.insert(arguments.begin() + 1, {"--key", file});
    break;
  }
  return arguments;
}

}  // namespace banyan
