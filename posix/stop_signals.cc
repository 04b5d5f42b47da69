#include "posix/stop_signals.h"

#include <sys/signalfd.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/check.h"

namespace banyan {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// Whoever starts a process with SIGHUP ignored, as nohup does, wants it to outlive its terminal.
bool IsHandled(int signal) {
  struct sigaction action = {};
  return signal != SIGHUP || sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_IGN;
}

sigset_t HandledSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) {
    if (IsHandled(signal)) sigaddset(&signals, signal);
  }
  return signals;
}

void SetAction(const sigset_t& signals, const struct sigaction& action) {
  for (const int signal : kSignals) {
    if (sigismember(&signals, signal) == 1) BANYAN_CHECK(sigaction(signal, &action, nullptr) == 0);
  }
}

// Runs only on a thread that does not hold the signal back, so not on one of ours. It does from now on, and the signal
// goes on to the process, where it waits to be seen.
void PassOn(int signal, siginfo_t*, void* context) {
  sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, signal);
  kill(getpid(), signal);
}

// Unlike SIG_IGN it is not handed down to programs that this process starts.
void TakeNoNotice(int) {}

void TakeNoNoticeOf(int signal) {
  struct sigaction unnoticed = {};
  unnoticed.sa_handler = TakeNoNotice;
  unnoticed.sa_flags = SA_RESTART;
  BANYAN_CHECK(sigaction(signal, &unnoticed, nullptr) == 0);
}

}  // namespace

StopSignals::StopSignals() : signals_(HandledSignals()) {
  BANYAN_CHECK(pthread_sigmask(SIG_BLOCK, &signals_, &previous_mask_) == 0);
  struct sigaction pass_on = {};
  pass_on.sa_sigaction = PassOn;
  pass_on.sa_flags = SA_SIGINFO | SA_RESTART;
  pass_on.sa_mask = signals_;
  SetAction(signals_, pass_on);
  fd_ = signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
  BANYAN_CHECK(fd_ >= 0);
}

StopSignals::~StopSignals() {
  close(fd_);
  // A signal may still be on its way through PassOn in another thread, and must not kill the process after all has
  // ended well.
  struct sigaction ended = {};
  ended.sa_handler = TakeNoNotice;
  ended.sa_flags = SA_RESTART;
  SetAction(signals_, ended);
  pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

void OutliveReaders() { TakeNoNoticeOf(SIGPIPE); }

void OutliveFullFiles() { TakeNoNoticeOf(SIGXFSZ); }

void OutliveLogRotation() {
  TakeNoNoticeOf(SIGUSR1);
  TakeNoNoticeOf(SIGUSR2);
}

int StopSignals::signal() const {
  // Looked at, never read, so that it stays there.
  sigset_t pending;
  BANYAN_CHECK(sigpending(&pending) == 0);
  for (const int signal : kSignals) {
    if (sigismember(&signals_, signal) == 1 && sigismember(&pending, signal) == 1) return signal;
  }
  return 0;
}

}  // namespace banyan
