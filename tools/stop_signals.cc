#include "tools/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <ucontext.h>
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

// Runs only on a thread that does not hold the signal back, so not on one of ours. It does from now on, and the signal
// goes on to the process, where it waits to be seen.
void PassOn(int signal, siginfo_t*, void* context) {
  sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, signal);
  kill(getpid(), signal);
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t signals = HandledSignals();
  BANYAN_CHECK(pthread_sigmask(SIG_BLOCK, &signals, &previous_mask_) == 0);
  struct sigaction pass_on = {};
  pass_on.sa_sigaction = PassOn;
  pass_on.sa_flags = SA_SIGINFO | SA_RESTART;
  pass_on.sa_mask = signals;
  BANYAN_CHECK(sigaction(SIGINT, &pass_on, &previous_interrupt_) == 0);
  BANYAN_CHECK(sigaction(SIGTERM, &pass_on, &previous_terminate_) == 0);
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
  sigaction(SIGINT, &previous_interrupt_, nullptr);
  sigaction(SIGTERM, &previous_terminate_, nullptr);
  pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

bool StopSignals::received() const {
  // Polled, never read, so that it stays true.
  pollfd entry = {.fd = fd_, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace banyan
