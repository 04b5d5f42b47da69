#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "core/json_writer.h"
#include "proto/message.h"
#include "proto/scheduler_messages.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/flags/shared_flags.h"
#include "tools/scheduler_probe.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

// --- what all of them share: their flags, the question to the scheduler, and its answer ---

constexpr double kLongestOrderPatience = 3600;

struct OrderFlags {
  std::string scheduler;
  KeyFlags keys;
  bool json = false;
  double patience_s = 5;
};

// `otherwise` tells in the help what counts where nothing says where the scheduler is.
void AddFlags(OrderFlags& flags, absl::string_view otherwise, CommandLine& line) {
  AddSchedulerFlag(line, otherwise, &flags.scheduler);
  flags.keys.AddTo(line, KeyFlags::Use::kCommand);
  line.Switch("json", "print JSON: accepted, text", &flags.json);
  line.Time("timeout", "TIME", "how long to wait for the answer (default 5s)", absl::Seconds(1), 0.1,
            kLongestOrderPatience, &flags.patience_s);
}

// Gives the order to whichever of the schedulers leads. UNAVAILABLE when no answer comes in time; CANCELLED after
// Ctrl-C, when the scheduler may still take it; other errors are of the keys, which name the operator.
absl::StatusOr<OperatorReply> GiveOrder(const OrderFlags& flags, Message order) {
  absl::StatusOr<std::optional<SecurityOptions>> security = flags.keys.Read();
  if (!security.ok()) return security.status();
  std::optional<OperatorReply> answer;
  SchedulerProbeOptions probe;
  probe.schedulers = absl::StrSplit(flags.scheduler, ',');
  probe.security = *std::move(security);
  probe.key_file = flags.keys.file();
  probe.question = std::move(order);
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

// Gives the order and shows the answer. Returns the exit code.
int RunOrder(const CommandLine& line, const OrderFlags& flags, Message order, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<OperatorReply> reply = GiveOrder(flags, std::move(order));
  if (!reply.ok()) return line.SchedulerFailure(reply.status(), err);
  if (flags.json) {
    JsonWriter json;
    json.BeginObject().Name("accepted").Boolean(reply->accepted).Name("text").String(reply->text).EndObject();
    out << json.text() << "\n";
    return reply->accepted ? kExitSuccess : kExitFailure;
  }
  if (!reply->accepted) {
    return line.Failure(absl::FailedPreconditionError("refused, nothing has changed: " + reply->text), err);
  }
  out << reply->text << "\n";
  return kExitSuccess;
}

// The same for a command that only --scheduler tells where to go.
int RunOrderByFlag(const CommandLine& line, const OrderFlags& flags, Message order, std::ostream& out,
                   std::ostream& err) {
  const absl::Status status = ReadSchedulerFlag(flags.scheduler).status();
  return status.ok() ? RunOrder(line, flags, std::move(order), out, err) : line.UsageError(status.message(), err);
}

// --- banyan reconfigure ---

// Looks for mistakes here, where the file is, and fills in the schedulers' addresses. Returns the file's text.
absl::StatusOr<std::string> ReadJob(const std::string& file, std::string& scheduler) {
  absl::StatusOr<std::string> text = ReadOverlayText(file);
  if (!text.ok()) return text;
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(*text, file);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  if (scheduler.empty()) scheduler = absl::StrJoin(overlay->scheduler.addresses, ",");
  return text;
}

}  // namespace

int ReconfigureCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  OrderFlags flags;
  std::string overlay;
  CommandLine line("banyan reconfigure",
                   "Changes a running job to another overlay file: topology, awareness, multipath, chunk size and "
                   "estimates of\nlinks may change, and nodes may be added at the end. No round is lost, and a file "
                   "with a mistake changes nothing.",
                   "banyan reconfigure overlay.yaml --scheduler tcp://127.0.0.1:7700");
  line.Positional("OVERLAY.yaml", "the whole job, as it shall be from now on", &overlay);
  AddFlags(flags, ", or the overlay's", line);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  flags.keys.LookBeside(overlay);
  if (!flags.scheduler.empty()) {
    if (const absl::Status status = ReadSchedulerFlag(flags.scheduler).status(); !status.ok()) {
      return line.UsageError(status.message(), err);
    }
  }
  absl::StatusOr<std::string> text = ReadJob(overlay, flags.scheduler);
  if (text.ok()) return RunOrder(line, flags, Reconfigure{*std::move(text), overlay}, out, err);
  return line.Failure(text.status(), err);
}

// --- banyan remove, veto and stop ---

int StopCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  OrderFlags flags;
  std::string reason;
  CommandLine line(
      "banyan stop",
      "Ends a job for all its nodes. A scheduler or a node that is only stopped ends nothing: the job goes\n"
      "on when it is back.",
      "banyan stop --scheduler tcp://127.0.0.1:7700");
  line.Text("reason", "TEXT", "for the logs and errors of all nodes", &reason);
  AddFlags(flags, "", line);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  return RunOrderByFlag(line, flags, StopJob{reason}, out, err);
}

int RemoveCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  OrderFlags flags;
  std::string node;
  CommandLine line(
      "banyan remove",
      "Takes a node out of a running job. It may not come back until `banyan reconfigure` is given a file\n"
      "that names it. Leave the node in the file: positions in `nodes` are never used again.",
      "banyan remove n3 --scheduler tcp://127.0.0.1:7700");
  line.Positional("NODE", "its name in the overlay", &node);
  AddFlags(flags, "", line);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  return RunOrderByFlag(line, flags, RemoveNode{node}, out, err);
}

int VetoCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  OrderFlags flags;
  VetoLowBit order;
  CommandLine line(
      "banyan veto",
      "Has low-bit rounds of a running job fall back to full precision, from the first round that no node\n"
      "has begun, until the veto is lifted. A restart of the scheduler keeps it. See docs/precision.md.",
      "banyan veto --scope encoder --scheduler tcp://127.0.0.1:7700");
  line.Repeated("scope", "NAME", "a scope of the profile: a role or a tensor (default all)",
                [&order](absl::string_view scope) {
                  if (scope.empty()) return absl::InvalidArgumentError("expected a name, got nothing");
                  order.scopes.emplace_back(scope);
                  return absl::OkStatus();
                });
  line.Switch("lift", "lift the veto instead", &order.is_lifted);
  AddFlags(flags, "", line);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  return RunOrderByFlag(line, flags, order, out, err);
}

}  // namespace banyan
