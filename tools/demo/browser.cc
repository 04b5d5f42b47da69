#include "tools/demo/browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace banyan {

absl::Status OpenBrowser(const std::string& url) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const auto forget_actions = absl::MakeCleanup([&actions] { posix_spawn_file_actions_destroy(&actions); });
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  // It is to outlive Ctrl-C here, and to hear its own signals.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const auto forget_attributes = absl::MakeCleanup([&attributes] { posix_spawnattr_destroy(&attributes); });
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::string program = "xdg-open";
  std::string argument = url;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, program.c_str(), &actions, &attributes, arguments, environ);
  if (error == 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("cannot start a browser by xdg-open (Debian: xdg-utils): ",
                                          std::strerror(error), "; open the page's address yourself"));
}

}  // namespace banyan
