#include "tools/reconfigure_command.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "tools/command_line.h"
#include "tools/flags/key_flags.h"
#include "tools/flags/scheduler_flag.h"
#include "tools/operator_order.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr double kLongestPatience = 3600;

struct ReconfigureFlags {
  std::string overlay;
  std::string scheduler;  // empty: the overlay's
  KeyFlags keys;
  bool json = false;
  double patience_s = 5;
};

CommandLine MakeCommandLine(ReconfigureFlags& flags) {
  CommandLine line("banyan reconfigure",
                   "Lets a running job go on under another overlay file: topology, awareness, multipath, chunk size\n"
                   "and beliefs about links may change, and nodes may come at the end. No round is lost, and a file "
                   "with a mistake changes nothing.",
                   "banyan reconfigure overlay.yaml --scheduler tcp://127.0.0.1:7700");
  line.Positional("OVERLAY.yaml", "the whole job, as it shall be from now on", &flags.overlay);
  AddSchedulerFlag(line, ", or the overlay's", &flags.scheduler);
  flags.keys.AddTo(line, KeyFlags::Use::kCommand);
  line.Switch("json", "print JSON: accepted, text", &flags.json);
  line.Time("timeout", "TIME", "how long to wait for the answer (default 5s)", absl::Seconds(1), 0.1, kLongestPatience,
            &flags.patience_s);
  return line;
}

// Looks for mistakes here, where the file is, and fills in the schedulers' addresses. Returns the file's text.
absl::StatusOr<std::string> ReadJob(ReconfigureFlags& flags) {
  absl::StatusOr<std::string> text = ReadOverlayText(flags.overlay);
  if (!text.ok()) return text;
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(*text, flags.overlay);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  if (flags.scheduler.empty()) flags.scheduler = absl::StrJoin(overlay->scheduler.addresses, ",");
  return text;
}

}  // namespace

int ReconfigureCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  ReconfigureFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  flags.keys.LookBeside(flags.overlay);
  if (!flags.scheduler.empty()) {
    if (const absl::Status status = ReadSchedulerFlag(flags.scheduler).status(); !status.ok()) {
      return line.UsageError(status.message(), err);
    }
  }
  absl::Status status;
  if (absl::StatusOr<std::string> text = ReadJob(flags); text.ok()) {
    const absl::StatusOr<OperatorReply> reply = GiveOrder(
        flags.scheduler, flags.keys, Reconfigure{*std::move(text), flags.overlay}, absl::Seconds(flags.patience_s));
    if (reply.ok()) return ShowReply("banyan reconfigure", flags.json, *reply, out, err);
    status = reply.status();
  } else {
    status = text.status();
  }
  err << "banyan reconfigure: " << status.message() << "\n";
  return kExitFailure;
}

}  // namespace banyan
