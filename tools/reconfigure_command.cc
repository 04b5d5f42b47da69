#include "tools/reconfigure_command.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/json_writer.h"
#include "tools/command_line.h"
#include "tools/scheduler_probe.h"
#include "topology/overlay/overlay_address.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr double kLongestPatience = 3600;

struct ReconfigureFlags {
  std::string overlay;
  std::string scheduler;  // empty: the overlay's
  bool json = false;
  double patience_s = 5;
};

CommandLine MakeCommandLine(ReconfigureFlags& flags) {
  CommandLine line("banyan reconfigure",
                   "Lets a running job go on under another overlay file: topology, awareness, multipath, chunk size\n"
                   "and beliefs about links may change. No round is lost, and a file with a mistake changes nothing.",
                   "banyan reconfigure overlay.yaml --scheduler tcp://127.0.0.1:7700");
  line.Positional("OVERLAY.yaml", "the whole job, as it shall be from now on", &flags.overlay);
  line.Text("scheduler", "ADDRESS", "where the scheduler is, tcp://host:port; default: the overlay's",
            &flags.scheduler);
  line.Switch("json", "print JSON: accepted, text", &flags.json);
  line.Number("timeout", "SECONDS", "how long to wait for the answer (default 5)", 0.1, kLongestPatience,
              &flags.patience_s);
  return line;
}

// Looks for mistakes here, where the file is, and fills in the scheduler's address. Returns the file's text.
absl::StatusOr<std::string> ReadJob(ReconfigureFlags& flags) {
  absl::StatusOr<std::string> text = ReadOverlayText(flags.overlay);
  if (!text.ok()) return text;
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(*text, flags.overlay);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  if (flags.scheduler.empty()) flags.scheduler = overlay->scheduler.address;
  return text;
}

absl::StatusOr<OperatorReply> Ask(const ReconfigureFlags& flags, std::string text) {
  std::optional<OperatorReply> answer;
  SchedulerProbeOptions probe;
  probe.scheduler = flags.scheduler;
  probe.question = Reconfigure{std::move(text), flags.overlay};
  probe.patience = absl::Seconds(flags.patience_s);
  probe.on_answer = [&answer](const Message& message) {
    const auto* reply = std::get_if<OperatorReply>(&message);
    if (reply != nullptr) answer = *reply;
    return reply != nullptr;
  };
  if (absl::Status status = AskScheduler(std::move(probe)); !status.ok()) return status;
  if (!answer.has_value()) return absl::CancelledError("stopped before the scheduler answered; it may still take it");
  return *std::move(answer);
}

int Show(const ReconfigureFlags& flags, const OperatorReply& reply, std::ostream& out, std::ostream& err) {
  if (flags.json) {
    JsonWriter json;
    json.BeginObject().Name("accepted").Boolean(reply.accepted).Name("text").String(reply.text).EndObject();
    out << json.text() << "\n";
  } else if (reply.accepted) {
    out << reply.text << "\n";
  } else {
    err << "banyan reconfigure: refused, nothing has changed: " << reply.text << "\n";
  }
  return reply.accepted ? kExitSuccess : kExitFailure;
}

}  // namespace

int ReconfigureCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  ReconfigureFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (!flags.scheduler.empty()) {
    if (const absl::Status status = CheckConnectAddress(flags.scheduler); !status.ok()) {
      return line.UsageError(absl::StrCat("--scheduler: ", status.message()), err);
    }
  }
  absl::Status status;
  if (absl::StatusOr<std::string> text = ReadJob(flags); text.ok()) {
    const absl::StatusOr<OperatorReply> reply = Ask(flags, *std::move(text));
    if (reply.ok()) return Show(flags, *reply, out, err);
    status = reply.status();
  } else {
    status = text.status();
  }
  err << "banyan reconfigure: " << status.message() << "\n";
  return kExitFailure;
}

}  // namespace banyan
