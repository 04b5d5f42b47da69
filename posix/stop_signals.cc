#include "posix/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <ucontext.h>
#include <unistd.h>

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

// Unlike SIG_IGN it is not handed down to programs that this process starts.
void TakeNoNotice(int) {}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t signals = HandledSignals();
  BANYAN_CHECK(pthread_sigmask(SIG_BLOCK, &signals, &previous_mask_) == 0);
  struct sigaction pass_on = {};
  pass_on.sa_sigaction = PassOn;
  pass_on.sa_flags = SA_SIGINFO | SA_RESTART;
  pass_on.sa_mask = signals;
  BANYAN_CHECK(sigaction(SIGINT, &pass_on, nullptr) == 0);
  BANYAN_CHECK(sigaction(SIGTERM, &pass_on, nullptr) == 0);
  fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  BANYAN_CHECK(fd_ >= 0);
}

StopSignals::~StopSignals() {
  close(fd_);
  // A signal may still be on its way through PassOn in another thread, and must not kill the process after all has
  // ended well.
  struct sigaction ended = {};
  ended.sa_handler = TakeNoNotice;
  ended.sa_flags = SA_RESTART;
  sigaction(SIGINT, &ended, nullptr);
  sigaction(SIGTERM, &ended, nullptr);
  pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

bool StopSignals::received() const {
  // Polled, never read, so that it stays true.
  pollfd entry = {.fd = fd_, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace banyan
