#include "tools/terminal/command_arguments.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace banyan {
namespace {

constexpr char kSamples[] = "deploy/";

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
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

}  // namespace banyan
