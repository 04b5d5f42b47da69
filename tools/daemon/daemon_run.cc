#include "tools/daemon/daemon_run.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "access/exposure.h"
#include "core/check.h"
#include "posix/service_manager.h"
#include "protocol/tap.h"
#include "tools/command_line.h"

namespace banyan {
namespace {

// Tells systemd that the core takes its turns. Thread-compatible; owned by its driver.
class Watchdog : public Tap {
 public:
  Watchdog(std::unique_ptr<Protocol> core, absl::Duration interval) : Tap(std::move(core)), interval_(interval) {}

 private:
  Timestamp NextTurn() const override { return next_; }
  void OnTurn() override {
    NotifyWatchdog();
    next_ = now() + interval_;
  }

  const absl::Duration interval_;
  Timestamp next_;
};

// Makes the signal that `fd` tells of wait for `thread` alone, which holds it back: a library's thread that does not
// could take it on its way, and whoever looks for it then would see none.
void Keep(int fd, pthread_t thread) {
  pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
  signalfd_siginfo taken = {};
  while (read(fd, &taken, sizeof(taken)) != sizeof(taken)) poll(&entry, 1, -1);
  BANYAN_CHECK(pthread_kill(thread, static_cast<int>(taken.ssi_signo)) == 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsPage>> ServeMetrics(const std::string& http, MetricsPage::Collect collect,
                                                          const LogFunction& log, std::vector<HttpRoute> more,
                                                          HttpAccess access) {
  const bool is_open = access.token == nullptr;
  absl::StatusOr<std::unique_ptr<MetricsPage>> page =
      MetricsPage::Serve(http, std::move(collect), std::move(more), std::move(access));
  if (!page.ok()) return page;
  if (is_open && !IsLoopback(absl::StrCat("tcp://", http))) {
    log(LogLevel::kWarning,
        absl::StrCat("metrics at ", http,
                     ", which other machines reach: any of them may read them, without --http-token"));
  }
  log(LogLevel::kInfo, absl::StrCat("metrics at ", (*page)->url()));
  return page;
}

std::string OpenAddressWarning(absl::string_view address, bool is_secured) {
  if (is_secured || IsLoopback(address)) return "";
  return absl::StrCat(
      "listening on ", address,
      ", which other machines reach, without keys (--insecure): any of them may act as any node or operator");
}

std::string WithPort(absl::string_view address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

std::unique_ptr<Protocol> WithWatchdog(std::unique_ptr<Protocol> core) {
  int64_t patience_us = 0;
  if (!absl::SimpleAtoi(CommandLine::Variable("WATCHDOG_USEC"), &patience_us) || patience_us <= 0) return core;
  // Half of it, as sd_watchdog_enabled(3) has it.
  return std::make_unique<Watchdog>(std::move(core), absl::Microseconds(patience_us) / 2);
}

void NotifyWatchdog() { NotifyServiceManager(CommandLine::Variable("NOTIFY_SOCKET"), "WATCHDOG=1"); }

absl::Status RunUntilStopped(const StopSignals& signals, const std::function<absl::Status()>& run,
                             const std::function<void()>& request_stop) {
  // The first process of a container inherits what others leave behind; a daemon has no children of its own.
  if (getpid() == 1) signal(SIGCHLD, SIG_IGN);
  const int ended = eventfd(0, EFD_CLOEXEC);
  BANYAN_CHECK(ended >= 0);
  std::thread watcher([&signals, &request_stop, ended, caller = pthread_self()] {
    pollfd entries[] = {{.fd = signals.fd(), .events = POLLIN, .revents = 0},
                        {.fd = ended, .events = POLLIN, .revents = 0}};
    while (poll(entries, 2, -1) < 0) {
    }
    if (entries[0].revents == 0) return;
    Keep(signals.fd(), caller);
    NotifyServiceManager(CommandLine::Variable("NOTIFY_SOCKET"), "STOPPING=1");
    request_stop();
  });
  absl::Status status = run();
  BANYAN_CHECK(eventfd_write(ended, 1) == 0);
  watcher.join();
  close(ended);
  return status;
}

absl::Status RunUntilStopped(const StopSignals& signals, ProtocolHost& host, std::unique_ptr<Protocol> core) {
  return RunUntilStopped(
      signals, [&host, &core] { return host.Run(std::move(core)); }, [&host] { host.RequestStop(); });
}

int DaemonExitCode(const absl::Status& status, const StopSignals& signals) {
  // So begin the ends of cores whose job has failed.
  constexpr char kJobFailed[] = "the job failed: ";
  if (!status.ok()) return absl::StartsWith(status.message(), kJobFailed) ? kExitFaultFound : kExitFailure;
  return signals.received() ? kExitSignalled + signals.signal() : kExitSuccess;
}

}  // namespace banyan
