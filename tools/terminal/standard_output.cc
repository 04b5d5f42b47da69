#include "tools/terminal/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

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

}  // namespace

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
