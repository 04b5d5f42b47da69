#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "posix/stop_signals.h"
#include "runtime/protocol_host.h"
#include "runtime/records/transcript_file.h"
#include "scheduler/replay/replay_scheduler.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/daemon/daemon_log.h"
#include "tools/daemon/daemon_run.h"
#include "topology/overlay/overlay_address.h"

namespace banyan {
namespace {

struct ReplayFlags {
  std::vector<std::string> transcripts;
  std::string listen = "tcp://127.0.0.1:0";
  std::string log_level = "info";
};

CommandLine MakeCommandLine(ReplayFlags& flags) {
  CommandLine line(
      "banyan replay",
      "Takes the scheduler's place where a training is run again, bit for bit. Give the transcripts of all\n"
      "nodes, start `banyan node --replay FILE` for each, with its name, and then the training as before.\n"
      "Ends when all nodes have finished, and with exit code 1 where the training differs from what was\n"
      "recorded.",
      "banyan replay --transcript n1.transcript --transcript n2.transcript --listen tcp://127.0.0.1:7700");
  line.Repeated("transcript", "FILE", "what `banyan node --transcript` of one node has written",
                [&flags](absl::string_view path) {
                  flags.transcripts.emplace_back(path);
                  return absl::OkStatus();
                });
  line.Text("listen", "ADDRESS", "tcp://host:port of this machine alone to bind (default: a free port)", &flags.listen);
  line.Choice("log-level", LogLevelNames(), "minimum level of the log (default info)", &flags.log_level);
  return line;
}

absl::StatusOr<ReplayCast> ReadAll(const std::vector<std::string>& paths) {
  std::vector<ReplayCast::Transcript> transcripts;
  for (const std::string& path : paths) {
    absl::StatusOr<ReplayCast::Transcript> transcript = ReadTranscriptFile(path);
    if (!transcript.ok()) return transcript.status();
    transcripts.push_back(*std::move(transcript));
  }
  return ReplayCast::Create(transcripts);
}

absl::Status Run(const ReplayFlags& flags, const StopSignals& signals, std::ostream& out) {
  absl::StatusOr<ReplayCast> cast = ReadAll(flags.transcripts);
  if (!cast.ok()) return cast.status();
  ProtocolHostOptions options;
  options.name = "replay";
  options.bind_address = flags.listen;
  options.log = MakeDaemonLog({.process = "replay", .level = flags.log_level});
  const absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create(options);
  if (!host.ok()) return host.status();
  const std::string address = (*host)->bound_address();
  out << "replay of job " << cast->job() << ": " << address << std::endl;
  options.log(LogLevel::kInfo, absl::StrCat("listening on ", address));
  return RunUntilStopped(signals, **host, std::make_unique<ReplayScheduler>(*std::move(cast)));
}

}  // namespace

int ReplayCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  ReplayFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.transcripts.empty()) return line.UsageError("expected --transcript FILE, for each node", err);
  if (const absl::Status status = CheckListenAddress(flags.listen); !status.ok()) {
    return line.UsageError(absl::StrCat("--listen: ", status.message()), err);
  }
  const StopSignals signals;
  const absl::Status status = Run(flags, signals, out);
  if (!status.ok()) err << "banyan replay: " << status.message() << "\n";
  return DaemonExitCode(status, signals);
}

}  // namespace banyan
