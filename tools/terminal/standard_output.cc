#include "tools/terminal/standard_output.h"

#include <fcntl.h>
#include <poll.h>
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

// Tells whether what is written to a pipe or a socket is for nobody. An earlier write that failed has left no reason.
bool HasLostItsReader(int descriptor) {
  pollfd item{descriptor, POLLOUT, 0};
  return poll(&item, 1, 0) == 1 && (item.revents & (POLLERR | POLLHUP)) != 0;
}

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
  const int error = errno;
  if (error != EPIPE && !(error == 0 && HasLostItsReader(STDOUT_FILENO))) {
    err << command << ": cannot write the output"
        << (error == EBADF ? ": standard output is closed"
            : error != 0   ? std::string(": ") + std::strerror(error)
                           : std::string())
        << "\n";
  }
  return code == 0 ? 1 : code;
}

}  // namespace banyan
