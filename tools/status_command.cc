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
#include "core/version.h"
#include "proto/status.h"
#include "proto/tracing/trace_messages.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/flags/shared_flags.h"
#include "tools/reports/status_text.h"
#include "tools/scheduler_probe.h"
#include "tools/view/recording.h"
#include "tools/view/round_asker.h"

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
  bool links = false;
  std::string record;  // a file; empty for none
  double patience_s = 5;
};

CommandLine MakeCommandLine(StatusFlags& flags) {
  CommandLine line("banyan status",
                   "Shows what a scheduler knows of its job: members, links, trees, progress, memory. Exit codes: 0 an "
                   "answer, 4 no answer, 5 the job has failed, 1 another error, 2 wrong flags.",
                   "banyan status --scheduler tcp://127.0.0.1:7700 --watch");
  AddSchedulerFlag(line, "", &flags.scheduler);
  flags.keys.AddTo(line, KeyFlags::Use::kCommand);
  line.Switch("json", "print JSON, one line per answer", &flags.json);
  line.Switch("links", "show all links, and not only the slowest", &flags.links);
  line.Switch("watch", "ask again every second until Ctrl-C, also while the scheduler is away", &flags.watch);
  line.Text("record", "FILE",
            "write what is answered, with its time, for `banyan view`, and have a round traced now and then",
            &flags.record);
  line.Needs("record", "watch");
  line.Exclude("json", "links");
  line.Time("timeout", "TIME", "how long to wait for an answer (default 5s)", absl::Seconds(1), 0.1, kLongestPatience,
            &flags.patience_s);
  return line;
}

bool IsTerminal(const std::ostream& out) { return &out == &std::cout && isatty(STDOUT_FILENO) != 0; }

// Returns whether the job has failed.
bool Show(const StatusFlags& flags, const JobStatus& status, std::ostream& out) {
  const bool has_failed = status.state == kFailed;
  if (flags.json) {
    out << StatusJson(status) << std::endl;
    return has_failed;
  }
  if (flags.watch && IsTerminal(out)) out << kClearScreen;
  out << FormatStatus(status, flags.links);
  if (flags.watch) out << "\n";
  out.flush();
  return has_failed;
}

// Writes a recording of a running job, with what it is asked for besides.
class JobRecorder {
 public:
  // UNAVAILABLE when the file cannot be written. The stream is told once why there are no traces.
  static absl::StatusOr<std::unique_ptr<JobRecorder>> Open(const std::string& path, std::ostream& err) {
    absl::StatusOr<std::unique_ptr<RecordingWriter>> writer = RecordingWriter::Open(path);
    if (!writer.ok()) return writer.status();
    return std::unique_ptr<JobRecorder>(new JobRecorder(path, *std::move(writer), err));
  }

  void Add(const JobStatus& status) {
    status_.Update(writer_->Add(NowSeconds(), status));
    question_ = asker_.Next(status, absl::Now());
  }
  // Returns what the scheduler is to be asked after the last status.
  std::optional<Message> TakeQuestion() {
    const std::optional<TraceRounds> question = std::exchange(question_, std::nullopt);
    return question.has_value() ? std::optional<Message>(*question) : std::nullopt;
  }
  bool TakeTraced(const Message& message) { return asker_.Take(message, absl::Now()); }
  // The first error of writing.
  const absl::Status& status() const { return status_; }

 private:
  JobRecorder(const std::string& path, std::unique_ptr<RecordingWriter> writer, std::ostream& err)
      : writer_(std::move(writer)),
        asker_({[this](const RoundChart& chart) { status_.Update(writer_->AddTrace(NowSeconds(), chart)); },
                [this, path, &err](const std::string& why) {
                  if (std::exchange(has_told_why_, true)) return;
                  err << "banyan status: " << path << " has no trace of a round for now: " << why << std::endl;
                }}) {}

  static double NowSeconds() { return absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()); }

  const std::unique_ptr<RecordingWriter> writer_;
  RoundAsker asker_;
  std::optional<TraceRounds> question_;
  bool has_told_why_ = false;
  absl::Status status_;
};

// Returns whether the job had failed at the last answer.
absl::StatusOr<bool> AskForStatus(const StatusFlags& flags, std::vector<std::string> schedulers, std::ostream& out,
                                  std::ostream& err) {
  bool has_failed = false;
  bool is_other_version = false;
  std::unique_ptr<JobRecorder> recorder;
  if (!flags.record.empty()) {
    absl::StatusOr<std::unique_ptr<JobRecorder>> opened = JobRecorder::Open(flags.record, err);
    if (!opened.ok()) return opened.status();
    recorder = *std::move(opened);
  }
  absl::StatusOr<std::optional<SecurityOptions>> security = flags.keys.Read();
  if (!security.ok()) return security.status();
  SchedulerProbeOptions probe;
  probe.security = *std::move(security);
  probe.key_file = flags.keys.file();
  probe.schedulers = std::move(schedulers);
  probe.question = StatusRequest{};
  probe.patience = absl::Seconds(flags.patience_s);
  if (flags.watch) {
    probe.interval = kWatchInterval;
    probe.on_silence = [&err](const absl::Status& why) {
      err << "banyan status: " << why.message() << "; it is asked again and again" << std::endl;
    };
  }
  probe.is_done = [&] { return is_other_version || !out.good() || (recorder != nullptr && !recorder->status().ok()); };
  probe.on_answer = [&](const Message& message) {
    const auto* reply = std::get_if<StatusReply>(&message);
    if (reply == nullptr) return false;
    is_other_version = reply->status->job.empty();
    if (is_other_version) return true;
    if (recorder != nullptr) recorder->Add(*reply->status);
    has_failed = Show(flags, *reply->status, out);
    return true;
  };
  if (recorder != nullptr) {
    probe.aside = [&recorder] { return recorder->TakeQuestion(); };
    probe.on_aside = [&recorder](const Message& message) { return recorder->TakeTraced(message); };
  }
  if (absl::Status status = AskScheduler(std::move(probe)); !status.ok()) return status;
  if (recorder != nullptr && !recorder->status().ok()) return recorder->status();
  if (is_other_version) {
    return absl::FailedPreconditionError(
        absl::StrCat("the scheduler is of another version of Banyan than this command, ", kVersion,
                     ": expected a status that it can read; ask again with the `banyan` that is installed where the "
                     "scheduler runs"));
  }
  return has_failed;
}

}  // namespace

int StatusCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  StatusFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  absl::StatusOr<std::vector<std::string>> schedulers = ReadSchedulerFlag(flags.scheduler);
  if (!schedulers.ok()) return line.UsageError(schedulers.status().message(), err);
  const absl::StatusOr<bool> has_failed = AskForStatus(flags, *std::move(schedulers), out, err);
  if (has_failed.ok()) return *has_failed ? kExitFaultFound : kExitSuccess;
  return line.SchedulerFailure(has_failed.status(), err);
}

}  // namespace banyan
