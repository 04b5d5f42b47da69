// SIGTERM, Ctrl-C and the end of the terminal (SIGHUP) as something to wait for instead of something that interrupts.
// SIGHUP counts unless the process was started with it ignored, as nohup does. Make it before any other thread,
// which all inherit that these signals are held back; threads that a library made while it was loaded hold them back
// from the first one on. One at a time; thread-safe.
#ifndef BANYAN_POSIX_STOP_SIGNALS_H_
#define BANYAN_POSIX_STOP_SIGNALS_H_

#include <signal.h>

namespace banyan {

class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  // Belongs at the end of the process: signals that came meanwhile count as seen, and those that come later as well.
  ~StopSignals();

  // Readable from the first signal on.
  int fd() const { return fd_; }
  // Returns whether the process has been asked to end.
  bool received() const { return signal() != 0; }
  // Returns by which signal; 0 before.
  int signal() const;

 private:
  const sigset_t signals_;
  sigset_t previous_mask_;
  int fd_ = -1;
};

// From now on writing to a pipe or socket that nobody reads is an error (EPIPE), not the end of the process. Programs
// that this one starts are not changed.
void OutliveReaders();
// Lets a write fail that would make a file larger than the process may (`ulimit -f`), instead of ending the process.
void OutliveFullFiles();

// From now on SIGUSR1 and SIGUSR2 do nothing: programs that turn logs over send them to whatever they know by its pid,
// and they would end this process without a word. Programs that this one starts are not changed.
void OutliveLogRotation();

}  // namespace banyan

#endif  // BANYAN_POSIX_STOP_SIGNALS_H_
