#include "tools/doctor/doctor_command.h"

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/json_writer.h"
#include "tools/command_line.h"
#include "tools/doctor/clock_check.h"
#include "tools/doctor/doctor_server.h"
#include "tools/doctor/doctor_site.h"
#include "tools/doctor/host_checks.h"
#include "tools/doctor/host_facts.h"
#include "tools/doctor/path_checks.h"
#include "tools/doctor/path_probe.h"
#include "tools/model_size.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr double kLargestOffsetMs = 60'000;
constexpr double kLongestWait = 3600;
constexpr double kLongestRateProbe = 60;
// For the conversation with a doctor that was found at the last moment.
constexpr absl::Duration kGrace = absl::Seconds(5);
constexpr int64_t kMostTensors = 10'000'000;
constexpr char kExplanation[] =
    "A job does not depend on it. Banyan's timestamps come from a monotonic clock, which chrony does not set. Nodes\n"
    "learn the offsets between these clocks from the echoes of heartbeats between neighbours. chrony only keeps the\n"
    "times in the logs of different sites comparable.";
constexpr char kDescription[] =
    "Looks for what will keep a job from running at this site, and says what to do. With an overlay it takes the place "
    "of the daemon called NAME (a node's name, or `scheduler`), waits for the doctors of the other sites, and looks at "
    "each path: reachable in both directions, large messages, losses, NAT, clocks. Run it at all sites within --wait. "
    "Without an overlay it looks at this machine alone, chrony's clock among the rest.\n";

struct DoctorFlags {
  std::string overlay;
  std::string name;
  double wait_s = 30;
  double rate_s = 0;
  double rate_megabytes = 250;
  double idle_s = 0;
  JobSize size;
  double max_offset_ms = 5;
  std::string chronyc = "/usr/bin/chronyc";
  bool json = false;
};

CommandLine MakeCommandLine(DoctorFlags& flags) {
  CommandLine line("banyan doctor", absl::StrCat(kDescription, kExplanation),
                   "banyan doctor overlay.yaml --name n1 --model-size 46MB");
  line.OptionalPositional("OVERLAY", "of the job; - for standard input", &flags.overlay);
  line.Text("name", "NAME", "whose place this is: a node's name, or scheduler", &flags.name);
  line.Time("wait", "TIME", "how long to wait for the doctors of other sites (default 30s)", absl::Seconds(1), 0,
            kLongestWait, &flags.wait_s);
  line.Time("rate", "TIME", "load each direction of each path for about so long, to see its rate", absl::Seconds(1), 0,
            kLongestRateProbe, &flags.rate_s);
  line.Megabytes("rate-bytes", "the most that is sent for it, per direction (default 250MB)", 1, 1000,
                 &flags.rate_megabytes);
  line.Time("idle", "TIME", "leave each connection alone for so long, to find time-outs of NATs", absl::Seconds(1), 0,
            kLongestWait, &flags.idle_s);
  line.Custom("model-size", "BYTES", "of the model, to see whether memory will do", [&flags](absl::string_view text) {
    const absl::StatusOr<int64_t> bytes = ReadModelBytes(text);
    if (bytes.ok()) flags.size.model_bytes = *bytes;
    return bytes.status();
  });
  line.Integer("tensors", "N", "keys of each worker (default 1)", 1, kMostTensors, &flags.size.tensors);
  line.Time("max-offset-ms", "MS", "how far chrony's clock may be off (default 5)", absl::Milliseconds(1), 0.001,
            kLargestOffsetMs, &flags.max_offset_ms);
  line.Text("chronyc", "PATH", "chrony's client (default /usr/bin/chronyc)", &flags.chronyc);
  line.Switch("json", "print JSON: ok, checks [{name, ok, text}]", &flags.json);
  line.Needs("rate-bytes", "rate");
  return line;
}

// Returns whose place this is; nobody's without an overlay.
absl::StatusOr<std::optional<DoctorSite>> ReadSite(const DoctorFlags& flags) {
  if (flags.overlay.empty()) return std::nullopt;
  const absl::StatusOr<OverlayConfig> overlay = LoadOverlay(flags.overlay);
  if (!overlay.ok()) return overlay.status();
  if (const absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  absl::StatusOr<DoctorSite> site = MakeDoctorSite(*overlay, flags.name, flags.size);
  if (!site.ok()) return site.status();
  return *std::move(site);
}

void PrintJson(const CheckResults& results, bool ok, std::ostream& out) {
  JsonWriter json;
  json.BeginObject().Name("ok").Boolean(ok).Name("checks").BeginArray();
  for (const CheckResult& result : results) {
    json.BeginObject().Name("name").String(result.name).Name("ok").Boolean(result.ok);
    json.Name("text").String(result.text).EndObject();
  }
  out << json.EndArray().EndObject().text() << "\n";
}

void Append(CheckResults more, CheckResults& results) {
  results.insert(results.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Listens where the site's daemon will. Null, with a result that says why, when that cannot be.
std::unique_ptr<DoctorServer> Listen(const DoctorSite& site, CheckResults& results) {
  absl::StatusOr<std::unique_ptr<DoctorServer>> server =
      DoctorServer::Start({.listen = site.listen, .name = site.name, .addresses = site.addresses});
  const std::string why(server.status().message());
  if (server.ok()) {
    results.push_back({"port", true, absl::StrCat(site.listen, " is free")});
    return *std::move(server);
  }
  const bool is_taken = absl::IsAlreadyExists(server.status());
  results.push_back(
      {"port", false,
       absl::StrCat(
           why,
           is_taken
               ? "; another program has the port: stop it, or give the site another one; a node that runs has it, too"
               : "; give the site a `listen` address of this machine")});
  return nullptr;
}

void ExaminePaths(const DoctorSite& site, const DoctorFlags& flags, CheckResults& results) {
  const auto probe_of = [&](const DoctorSite::Path& path) {
    return PathProbe{.own_name = site.name,
                     .own_address = site.address,
                     .name = path.name,
                     .address = path.address,
                     .patience = absl::Seconds(flags.wait_s),
                     .rate_time = absl::Seconds(flags.rate_s),
                     .rate_bytes = static_cast<int64_t>(flags.rate_megabytes * 1e6),
                     .idle_time = absl::Seconds(flags.idle_s)};
  };
  std::vector<std::future<PathFacts>> facts;
  // Rates one after the other: they would share this site's access.
  const std::launch when = flags.rate_s > 0 ? std::launch::deferred : std::launch::async;
  for (const DoctorSite::Path& path : site.paths) facts.push_back(std::async(when, ProbePath, probe_of(path)));
  for (size_t i = 0; i < facts.size(); ++i) Append(CheckPath(facts[i].get(), site.paths[i].expected), results);
}

// Examines the site while its doctor answers those of the others. These may come a little later than this one.
void ExamineSite(const DoctorSite& site, const DoctorFlags& flags, CheckResults& results, std::ostream& err) {
  const absl::Time deadline = absl::Now() + absl::Seconds(flags.wait_s) + kGrace;
  std::set<std::string> others;
  for (const DoctorSite::Path& path : site.paths) others.insert(path.name);
  Append(CheckAddresses(site), results);
  const std::unique_ptr<DoctorServer> server = Listen(site, results);
  err << "banyan doctor: " << site.name << " looks at its paths to " << absl::StrJoin(others, ", ")
      << "; waits for their doctors for up to " << absl::Seconds(flags.wait_s) << "\n";
  ExaminePaths(site, flags, results);
  if (server != nullptr) server->AwaitVisitors(others, deadline);
}

int Report(const CheckResults& results, const DoctorFlags& flags, std::ostream& out) {
  const bool ok = std::all_of(results.begin(), results.end(), [](const CheckResult& result) { return result.ok; });
  if (flags.json) {
    PrintJson(results, ok, out);
  } else {
    for (const CheckResult& result : results) {
      out << (result.ok ? "ok: " : "fix: ") << result.name << ": " << result.text << "\n";
    }
    if (!ok && flags.overlay.empty()) out << "\n" << kExplanation << "\n";
  }
  return ok ? kExitSuccess : kExitFailure;
}

}  // namespace

int DoctorCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  DoctorFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.overlay.empty() != flags.name.empty()) {
    return line.UsageError("expected both OVERLAY and --name, or none of them", err);
  }
  const absl::StatusOr<std::optional<DoctorSite>> site = ReadSite(flags);
  if (!site.ok()) {
    err << "banyan doctor: " << site.status().message() << "\n";
    return kExitFailure;
  }
  CheckResults results = CheckClock(flags.chronyc, absl::Milliseconds(flags.max_offset_ms));
  Append(CheckHost(ReadHostFacts(""), site->has_value() ? (*site)->needs : HostNeeds()), results);
  if (site->has_value()) ExamineSite(**site, flags, results, err);
  return Report(results, flags, out);
}

}  // namespace banyan
