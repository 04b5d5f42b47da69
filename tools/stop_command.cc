#include "tools/stop_command.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/scheduler_messages.h"
#include "tools/command_line.h"
#include "tools/flags/key_flags.h"
#include "tools/flags/scheduler_flag.h"
#include "tools/operator_order.h"

namespace banyan {
namespace {

constexpr double kLongestOrderPatience = 3600;

struct OrderFlags {
  std::string scheduler;
  KeyFlags keys;
  bool json = false;
  double patience_s = 5;
};

void AddFlags(OrderFlags& flags, CommandLine& line) {
  AddSchedulerFlag(line, "", &flags.scheduler);
  flags.keys.AddTo(line, KeyFlags::Use::kCommand);
  line.Switch("json", "print JSON: accepted, text", &flags.json);
  line.Time("timeout", "TIME", "how long to wait for the answer (default 5s)", absl::Seconds(1), 0.1,
            kLongestOrderPatience, &flags.patience_s);
}

int RunOrder(const std::string& command, const CommandLine& line, const OrderFlags& flags, Message order,
             std::ostream& out, std::ostream& err) {
  if (const absl::Status status = ReadSchedulerFlag(flags.scheduler).status(); !status.ok()) {
    return line.UsageError(status.message(), err);
  }
  const absl::StatusOr<OperatorReply> reply =
      GiveOrder(flags.scheduler, flags.keys, std::move(order), absl::Seconds(flags.patience_s));
  if (reply.ok()) return ShowReply(command, flags.json, *reply, out, err);
  err << command << ": " << reply.status().message() << "\n";
  return kExitFailure;
}

}  // namespace

int StopCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  OrderFlags flags;
  std::string reason;
  CommandLine line(
      "banyan stop",
      "Ends a job for all its nodes. A scheduler or a node that is only stopped ends nothing: the job goes\n"
      "on when it is back.",
      "banyan stop --scheduler tcp://127.0.0.1:7700");
  line.Text("reason", "TEXT", "what the nodes are told", &reason);
  AddFlags(flags, line);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  return RunOrder("banyan stop", line, flags, StopJob{reason}, out, err);
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
  AddFlags(flags, line);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  return RunOrder("banyan remove", line, flags, RemoveNode{node}, out, err);
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
  AddFlags(flags, line);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  return RunOrder("banyan veto", line, flags, order, out, err);
}

}  // namespace banyan
