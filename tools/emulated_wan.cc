#include "tools/emulated_wan.h"

#include <signal.h>
#include <time.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "wan/emulator.h"
#include "wan/wan_processes.h"

namespace banyan {
namespace {

constexpr absl::Duration kStartTime = absl::Seconds(30);
constexpr absl::Duration kStopTime = absl::Seconds(15);
constexpr absl::Duration kPollInterval = absl::Milliseconds(10);
constexpr int kShownLogLines = 10;
constexpr int kSchedulerPort = 7700;
constexpr int kNodePort = 7701;

// 0 when it has ended.
double ProcessCpuSeconds(pid_t pid) {
  clockid_t clock = {};
  timespec spent = {};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &spent) != 0) return 0;
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

std::string Tcp(const std::string& ip, int port) { return absl::StrCat("tcp://", ip, ":", port); }

}  // namespace

std::string SchedulerAddressAt(const std::string& ip) { return Tcp(ip, kSchedulerPort); }

std::string NodeAddressAt(const std::string& ip) { return Tcp(ip, kNodePort); }

std::vector<std::string> WanUpArguments(const EmulatedWanOptions& options) {
  std::vector<std::string> arguments = {options.banyan_program, "wan",          "up",
                                        options.overlay,        "--foreground", "--dir",
                                        options.directory,      "--seed",       absl::StrCat(options.seed)};
  if (!options.congestion.empty()) arguments.insert(arguments.end(), {"--congestion", options.congestion});
  if (options.trim_bytes > 0) {
    arguments.insert(arguments.end(), {"--trim-bytes", absl::StrCat(options.trim_bytes)});
  }
  if (options.redraw_seconds > 0) {
    arguments.insert(arguments.end(), {"--redraw-interval", absl::StrCat(options.redraw_seconds), "--redraw-rates",
                                       options.redraw_rates.ToString()});
  }
  return arguments;
}

std::vector<std::string> WanExecArguments(const std::string& banyan_program, const std::string& directory,
                                          const std::string& node, const std::vector<std::string>& program) {
  std::vector<std::string> line = {banyan_program, "wan", "exec", node, "--dir", directory, "--"};
  line.insert(line.end(), program.begin(), program.end());
  return line;
}

absl::StatusOr<std::unique_ptr<EmulatedWan>> EmulatedWan::Start(const EmulatedWanOptions& options) {
  absl::StatusOr<std::unique_ptr<ChildProcess>> process = ChildProcess::Start(
      {.name = "the emulated WAN", .arguments = WanUpArguments(options), .log_path = options.log_path});
  if (!process.ok()) return process.status();
  std::unique_ptr<EmulatedWan> wan(new EmulatedWan(options, *std::move(process)));
  if (absl::Status status = wan->WaitUntilItRuns(); !status.ok()) return status;
  return wan;
}

EmulatedWan::EmulatedWan(const EmulatedWanOptions& options, std::unique_ptr<ChildProcess> process)
    : directory_(options.directory), client_(options.directory), process_(std::move(process)) {}

// In the foreground it ends what runs in its nodes and removes its files.
EmulatedWan::~EmulatedWan() {
  process_->Signal(SIGTERM);
  if (process_->WaitUntilEnded(kStopTime) && process_->failure().empty()) return;
  process_->Signal(SIGKILL);
  StopEmulator(directory_).IgnoreError();
}

absl::Status EmulatedWan::Check(absl::Duration patience) const {
  if (!process_->WaitUntilEnded(patience)) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the emulated WAN ended too early; the end of its log:\n", process_->LogTail(kShownLogLines)));
}

double EmulatedWan::NodesCpuSeconds(const WanStatus& status) const {
  double seconds = 0;
  for (const pid_t pid : FindWanProcesses(status.id)) seconds += ProcessCpuSeconds(pid);
  return seconds;
}

absl::Status EmulatedWan::WaitUntilItRuns() {
  const absl::Time deadline = absl::Now() + kStartTime;
  while (absl::Now() < deadline) {
    if (client_.Status().ok()) return absl::OkStatus();
    if (!process_->running()) {
      return absl::UnavailableError(
          absl::StrCat("the emulated WAN did not start:\n", process_->LogTail(kShownLogLines)));
    }
    absl::SleepFor(kPollInterval);
  }
  return absl::DeadlineExceededError(
      absl::StrCat("expected an emulated WAN within ", absl::FormatDuration(kStartTime)));
}

}  // namespace banyan
