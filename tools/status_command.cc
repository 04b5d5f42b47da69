#include "tools/status_command.h"

#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/command_line.h"
#include "tools/flags/key_flags.h"
#include "tools/flags/scheduler_flag.h"
#include "tools/reports/status_view.h"
#include "tools/scheduler_probe.h"
#include "tools/view/recording_writer.h"

namespace banyan {
namespace {

constexpr absl::Duration kWatchInterval = absl::Seconds(1);
constexpr char kClearScreen[] = "\x1b[H\x1b[J";
constexpr double kLongestPatience = 3600;
constexpr char kFailed[] = "failed";

struct StatusFlags {
  std::string scheduler;
  KeyFlags keys;
  bool json = false;
  bool watch = false;
  std::string record;  // a file; empty for none
  double patience_s = 5;
};

CommandLine MakeCommandLine(StatusFlags& flags) {
  CommandLine line("banyan status",
                   "Shows what a scheduler knows of its job: members, links, trees, progress, memory. Exit codes: 0 an "
                   "answer, 1 none "
                   "or the job has failed, 2 wrong flags.",
                   "banyan status --scheduler tcp://127.0.0.1:7700 --watch");
  AddSchedulerFlag(line, "", &flags.scheduler);
  flags.keys.AddTo(line, KeyFlags::Use::kCommand);
  line.Switch("json", "print JSON, one line per answer", &flags.json);
  line.Switch("watch", "ask again every second until Ctrl-C", &flags.watch);
  line.Text("record", "FILE", "write what is answered, with its time, for `banyan view`", &flags.record);
  line.Needs("record", "watch");
  line.Time("timeout", "TIME", "how long to wait for an answer (default 5s)", absl::Seconds(1), 0.1, kLongestPatience,
            &flags.patience_s);
  return line;
}

bool IsTerminal(const std::ostream& out) { return &out == &std::cout && isatty(STDOUT_FILENO) != 0; }

// Returns whether the job has failed.
bool Show(const StatusFlags& flags, const std::string& json, std::ostream& out) {
  const absl::StatusOr<StatusView> status = ParseStatus(json);
  const bool has_failed = status.ok() && status->state == kFailed;
  if (flags.json) {
    out << json << std::endl;
    return has_failed;
  }
  if (flags.watch && IsTerminal(out)) out << kClearScreen;
  out << (status.ok() ? FormatStatus(*status) : absl::StrCat(status.status().message(), "\n"));
  if (flags.watch) out << "\n";
  out.flush();
  return has_failed;
}

double NowSeconds() { return absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()); }

// Returns whether the job had failed at the last answer.
absl::StatusOr<bool> AskForStatus(const StatusFlags& flags, std::vector<std::string> schedulers, std::ostream& out) {
  bool has_failed = false;
  std::unique_ptr<RecordingWriter> recording;
  absl::Status recorded;
  if (!flags.record.empty()) {
    absl::StatusOr<std::unique_ptr<RecordingWriter>> opened = RecordingWriter::Open(flags.record);
    if (!opened.ok()) return opened.status();
    recording = *std::move(opened);
  }
  absl::StatusOr<std::optional<SecurityOptions>> security = flags.keys.Read();
  if (!security.ok()) return security.status();
  SchedulerProbeOptions probe;
  probe.security = *std::move(security);
  probe.schedulers = std::move(schedulers);
  probe.question = StatusRequest{};
  probe.patience = absl::Seconds(flags.patience_s);
  if (flags.watch) probe.interval = kWatchInterval;
  probe.is_done = [&out, &recorded] { return !out.good() || !recorded.ok(); };
  probe.on_answer = [&](const Message& message) {
    const auto* reply = std::get_if<StatusReply>(&message);
    if (reply == nullptr) return false;
    if (recording != nullptr) recorded = recording->Add(NowSeconds(), reply->json);
    has_failed = Show(flags, reply->json, out);
    return true;
  };
  if (absl::Status status = AskScheduler(std::move(probe)); !status.ok()) return status;
  if (!recorded.ok()) return recorded;
  return has_failed;
}

}  // namespace

int StatusCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  StatusFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  absl::StatusOr<std::vector<std::string>> schedulers = ReadSchedulerFlag(flags.scheduler);
  if (!schedulers.ok()) return line.UsageError(schedulers.status().message(), err);
  const absl::StatusOr<bool> has_failed = AskForStatus(flags, *std::move(schedulers), out);
  if (has_failed.ok()) return *has_failed ? kExitFailure : kExitSuccess;
  err << "banyan status: " << has_failed.status().message() << "\n";
  return kExitFailure;
}

}  // namespace banyan
