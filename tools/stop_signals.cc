#include "tools/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <ctime>

#include "core/check.h"

namespace banyan {
namespace {

sigset_t HandledSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t signals = HandledSignals();
  BANYAN_CHECK(pthread_sigmask(SIG_BLOCK, &signals, &previous_) == 0);
  fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  BANYAN_CHECK(fd_ >= 0);
}

StopSignals::~StopSignals() {
  const sigset_t signals = HandledSignals();
  const timespec now = {};
  // Else the signal would kill the process below, after all has ended well.
  while (sigtimedwait(&signals, nullptr, &now) > 0) {
  }
  close(fd_);
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

bool StopSignals::received() const {
  // Polled, never read, so that it stays true.
  pollfd entry = {.fd = fd_, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace banyan
