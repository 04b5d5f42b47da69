#include "tools/terminal/main_support.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace banyan {
namespace {

void OpenIfClosed(int descriptor, int mode) {
  if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) return;
  // The lowest free number is this one, since those below are open.
  if (open("/dev/null", mode) != descriptor) std::abort();
}

// Returns why nothing can be written to `descriptor`, when an earlier write has failed and left no reason; 0 when
// something can by now.
int ReasonOfAnother(int descriptor) { return write(descriptor, "\n", 1) < 0 ? errno : 0; }

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

void OpenStandardStreams() {
  OpenIfClosed(STDIN_FILENO, O_RDONLY);
  OpenIfClosed(STDOUT_FILENO, O_RDONLY);
  OpenIfClosed(STDERR_FILENO, O_WRONLY);
}

int FinishOutput(int code, const std::string& command, std::ostream& err) {
  errno = 0;
  std::cout.flush();
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (is_written) return code;
  const int error = errno != 0 ? errno : ReasonOfAnother(STDOUT_FILENO);
  if (error != EPIPE) {
    err << command << ": cannot write the output"
        << (error == EBADF ? ": standard output is closed"
            : error != 0   ? std::string(": ") + std::strerror(error)
                           : std::string())
        << "\n";
  }
  return code == 0 ? 1 : code;
}

}  // namespace banyan
