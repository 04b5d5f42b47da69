#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "bench/result_table.h"
#include "bench/timing.h"
#include "core/json_writer.h"
#include "posix/program_path.h"
#include "posix/work_directory.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/emulated_wan.h"
#include "tools/wan_benchmark/gradient_packet.h"
#include "tools/wan_benchmark/incast.h"
#include "wan/node_exec.h"
#include "wan/wan_client.h"

namespace banyan {
namespace {

using Cell = ResultTable::Cell;

constexpr char kReceiver[] = "r";
constexpr int64_t kSenders[] = {2, 4, 8};
constexpr double kIpBytes = 28;  // of IP and UDP
constexpr int64_t kMostIncastRounds = 1000;
constexpr double kMostIncastMbps = 1000;
// A sender's packets just fit through its own link.
constexpr double kPacePart = 0.95;

struct IncastMode {
  const char* name;
  size_t packet_end = 0;  // to which queues cut; 0: they drop
  bool is_tcp = false;
};

constexpr IncastMode kIncastModes[] = {{"TCP, all comes again", 0, true},
                                       {"dropped", 0, false},
                                       {"cut to signs", kSignsEnd, false},
                                       {"cut to half", kHalvesEnd, false}};

struct IncastFlags {
  double mbps = 20;
  int64_t rounds = 5;
  bool json = false;
};

// A star: each sender has a link to the receiver, which takes in as much as one of them sends.
std::string IncastOverlayText(double mbps) {
  std::string nodes = absl::StrCat("nodes:\n- {name: ", kReceiver, ", down_mbps: ", mbps, "}\n");
  std::string links = "links:\n";
  for (int64_t i = 1; i <= kSenders[2]; ++i) {
    absl::StrAppend(&nodes, "- {name: s", i, "}\n");
    absl::StrAppend(&links, "- {between: [s", i, ", ", kReceiver, "], mbps: ", mbps, ", delay_ms: 5}\n");
  }
  return nodes + links;
}

absl::StatusOr<std::vector<Cell>> MeasureIncastRow(const WanClient& client, const IncastFlags& flags,
                                                   const IncastMode& mode, int64_t senders) {
  IncastOptions options;
  for (int64_t i = 1; i <= senders; ++i) options.senders.push_back(absl::StrCat("s", i));
  options.receiver = kReceiver;
  options.rate_bps = kPacePart * flags.mbps * 1e6;
  options.is_tcp = mode.is_tcp;
  options.is_trimmable = mode.packet_end > 0;
  std::vector<double> seconds;
  IncastResult sum;
  for (int64_t round = 1; round <= flags.rounds; ++round) {
    options.seed = static_cast<uint64_t>(round);
    const absl::StatusOr<IncastResult> result = RunIncast(client, options);
    if (!result.ok()) return result.status();
    seconds.push_back(result->seconds);
    const auto add = [&](double IncastResult::*part) {
      sum.*part += (*result).*part / static_cast<double>(flags.rounds);
    };
    for (const auto part : {&IncastResult::whole, &IncastResult::cut, &IncastResult::lost, &IncastResult::error}) {
      add(part);
    }
  }
  const double slowest = *std::max_element(seconds.begin(), seconds.end());
  return std::vector<Cell>{Cell::Number(static_cast<double>(senders)),
                           Cell::Text(mode.name),
                           Cell::Number(Median(seconds), 2),
                           Cell::Number(slowest, 2),
                           Cell::Number(100 * sum.whole, 1),
                           Cell::Number(100 * sum.cut, 1),
                           Cell::Number(100 * sum.lost, 1),
                           Cell::Number(sum.error, 4)};
}

absl::Status MeasureIncastMode(const IncastFlags& flags, const IncastMode& mode, const std::string& banyan,
                               ResultTable& table) {
  const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-incast-");
  if (!directory.ok()) return directory.status();
  if (const absl::Status status = (*directory)->Write("overlay.yaml", IncastOverlayText(flags.mbps)); !status.ok()) {
    return status;
  }
  EmulatedWanOptions wan;
  wan.banyan_program = banyan;
  wan.overlay = (*directory)->File("overlay.yaml");
  wan.directory = (*directory)->File("wan");
  wan.log_path = (*directory)->File("wan.log");
  if (mode.packet_end > 0) wan.trim_bytes = static_cast<int64_t>(mode.packet_end + kIpBytes);
  const absl::StatusOr<std::unique_ptr<EmulatedWan>> started = EmulatedWan::Start(wan);
  if (!started.ok()) return started.status();
  const WanClient client(wan.directory);
  if (const absl::Status status = EnterUserNamespace(client); !status.ok()) return status;
  for (const int64_t senders : kSenders) {
    absl::StatusOr<std::vector<Cell>> row = MeasureIncastRow(client, flags, mode, senders);
    if (!row.ok()) return row.status();
    table.rows.push_back(*std::move(row));
  }
  return absl::OkStatus();
}

absl::StatusOr<ResultTable> MeasureIncast(const IncastFlags& flags) {
  const absl::StatusOr<std::string> banyan = OwnProgram();
  if (!banyan.ok()) return banyan.status();
  ResultTable table;
  table.name = "rows";
  table.title = "Each sender has 131,072 numbers in packets of 365. Median and slowest round; shares of the packets.";
  table.columns = {{"senders"}, {"full queues"}, {"seconds"}, {"slowest"},
                   {"whole %"}, {"cut %"},       {"lost %"},  {"squared error"}};
  for (const IncastMode& mode : kIncastModes) {
    if (const absl::Status status = MeasureIncastMode(flags, mode, *banyan, table); !status.ok()) return status;
  }
  return table;
}

}  // namespace

int BenchIncastCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  IncastFlags flags;
  CommandLine line("banyan bench incast",
                   "Sends rotated gradients of two, four and eight nodes of an emulated WAN to one, whose queues cut "
                   "packets\nto their signs or to half, or drop them, beside TCP. Needs root.",
                   "banyan bench incast --rounds 5");
  line.Rate("rate", "RATE", "Mbit/s, or with a unit, of each sender's link and into the receiver (default 20)", 1,
            kMostIncastMbps, &flags.mbps);
  line.Integer("rounds", "N", "of each row (default 5)", 1, kMostIncastRounds, &flags.rounds);
  line.Switch("json", "print JSON", &flags.json);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  const absl::StatusOr<ResultTable> table = MeasureIncast(flags);
  if (!table.ok()) return line.Failure(table.status(), err);
  if (!flags.json) {
    out << table->AsText();
    return kExitSuccess;
  }
  JsonWriter json;
  json.BeginObject().Name(table->name);
  table->WriteTo(json);
  json.EndObject();
  out << json.text() << "\n";
  return kExitSuccess;
}

}  // namespace banyan
