#include "tools/terminal/command_arguments.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

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

}  // namespace

std::vector<std::string> WithInstalledSamples(std::vector<std::string> arguments, const std::string& prefix) {
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (!absl::StartsWith(argument, kSamples) || Exists(argument)) continue;
    const std::string installed = absl::StrCat(prefix, "/share/banyan/", argument.substr(sizeof(kSamples) - 1));
    if (Exists(installed)) argument = installed;
  }
  return arguments;
}

std::vector<std::string> WithDefaultScheduler(std::vector<std::string> arguments, const std::string& scheduler) {
  if (scheduler.empty() || arguments.empty() || !TalksToAScheduler(arguments.front())) return arguments;
  for (const std::string& argument : arguments) {
    if (argument == kFlag || absl::StartsWith(argument, absl::StrCat(kFlag, "="))) return arguments;
  }
  arguments.insert(arguments.begin() + 1, {kFlag, scheduler});
  return arguments;
}

}  // namespace banyan
