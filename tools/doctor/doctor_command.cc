#include <algorithm>
#include <cstdint>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
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
#include "tools/commands.h"
#include "tools/doctor/doctor_server.h"
#include "tools/doctor/doctor_site.h"
#include "tools/doctor/host_checks.h"
#include "tools/doctor/path_checks.h"
#include "tools/doctor/path_probe.h"
#include "tools/doctor/site_report.h"
#include "tools/doctor/whole_view.h"
#include "tools/flag_values.h"
#include "tools/flags/shared_flags.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

// Takes the place of a site's daemon for a while: looks at its paths, answers the doctors of other sites, and tells
// what it has found to the schedulers' doctors. Functions; thread-safe.
struct ExaminationOptions {
  absl::Duration wait;       // for the doctors of other sites
  absl::Duration rate_time;  // as PathProbe has them
  int64_t rate_bytes = 0;
  absl::Duration idle_time;
  bool collects = false;  // waits for what the nodes' doctors report; REQUIRES: the site is a scheduler
};

// Doctors are found at the last moment, too.
constexpr absl::Duration kGrace = absl::Seconds(5);
// What a conversation takes at most without pauses and rates.
constexpr absl::Duration kConversation = absl::Seconds(90);
// The blocks that show the rates of both directions take so many times what is wanted.
constexpr int kRateTimes = 6;

// Looks at the paths of one site, within one wait for all.
class Examination {
 public:
  Examination(const DoctorSite& site, const ExaminationOptions& options)
      : site_(site), options_(options), found_by_(absl::Now() + options.wait) {}

  DoctorServer::Deadlines Deadlines() const {
    const auto paths = static_cast<int>(site_.paths.size());
    const absl::Duration examining = kConversation + options_.idle_time + paths * kRateTimes * options_.rate_time;
    // Another doctor may have begun at the end of this one's wait.
    return {found_by_ + kGrace, found_by_ + kGrace + options_.wait + examining};
  }

  // Adds what it finds to `results`. Returns the sites whose doctors can call this one, and will.
  std::set<std::string> Examine(CheckResults& results) const {
    std::set<std::string> callers;
    // Rates one after the other: they would share this site's access.
    const std::launch when = options_.rate_time > absl::ZeroDuration() ? std::launch::deferred : std::launch::async;
    std::vector<std::future<PathFacts>> facts;
    facts.reserve(site_.paths.size());
    for (const DoctorSite::Path& path : site_.paths) {
      facts.push_back(std::async(when, [this, &path] { return ProbePath(ProbeOf(path)); }));
    }
    for (size_t i = 0; i < facts.size(); ++i) {
      const PathFacts known = facts[i].get();
      CheckResults more = CheckPath(known, site_.paths[i].expected);
      results.insert(results.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
      const bool is_it = known.answerer == PathFacts::Answerer::kDoctor && known.answered_name == known.name;
      if (is_it && known.call_back == kCanCall) callers.insert(known.name);
    }
    return callers;
  }

  // Tells it to the schedulers' doctors that still run.
  void Report(const CheckResults& results, std::ostream& err) const {
    const std::string report = EncodeReport(results);
    for (const DoctorSite::Path& path : site_.paths) {
      if (!path.is_to_scheduler) continue;
      PathProbe probe = ProbeOf(path);
      probe.patience = absl::ZeroDuration();
      if (SendReport(probe, report).ok()) err << "banyan doctor: " << site_.name << " has told " << path.name << "\n";
    }
  }

 private:
  PathProbe ProbeOf(const DoctorSite::Path& path) const {
    return {.own_name = site_.name,
            .own_address = site_.address,
            .name = path.name,
            .address = path.address,
            .patience = std::max(absl::ZeroDuration(), found_by_ - absl::Now()),
            .rate_time = options_.rate_time,
            .rate_bytes = options_.rate_bytes,
            .idle_time = options_.idle_time};
  }

  const DoctorSite& site_;
  const ExaminationOptions& options_;
  const absl::Time found_by_;
};

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

// Examines `site`, of whose machine `results` are known, and adds to them. Says on `err` what it waits for. Returns
// what others have reported, by site. Takes twice the wait, the times of each path and some minutes at most.
std::map<std::string, CheckResults> ExamineSite(const DoctorSite& site, const ExaminationOptions& options,
                                                CheckResults& results, std::ostream& err) {
  const Examination examination(site, options);
  CheckResults more = CheckAddresses(site);
  results.insert(results.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  const std::unique_ptr<DoctorServer> server = Listen(site, results);
  std::set<std::string> others;
  for (const DoctorSite::Path& path : site.paths) others.insert(path.name);
  err << "banyan doctor: " << site.name << " looks at its paths to " << absl::StrJoin(others, ", ")
      << "; waits for their doctors for up to " << options.wait << "\n";
  const std::set<std::string> callers = examination.Examine(results);
  if (!options.collects) examination.Report(results, err);
  if (server == nullptr) return {};
  // Without rates to see, all call at once. Reports come when their sites are through.
  const bool come_late = options.collects || options.rate_time > absl::ZeroDuration();
  if (come_late) {
    for (const std::string& other : callers) server->NotePresent(other);
  }
  if (options.collects) return server->AwaitReports(others, examination.Deadlines());
  server->AwaitVisitors(others, examination.Deadlines());
  return {};
}

constexpr double kLargestOffsetMs = 60'000;
constexpr double kLongestWait = 3600;
constexpr double kLongestRateProbe = 60;
constexpr int64_t kMostTensors = 10'000'000;
constexpr char kExplanation[] =
    "A job does not depend on it. Banyan's timestamps come from a monotonic clock, which chrony does not set. Nodes\n"
    "learn the offsets between these clocks from the echoes of heartbeats between neighbours. chrony only keeps the\n"
    "times in the logs of different sites comparable.";
constexpr char kDescription[] =
    "Looks for what will keep a job from running at this site, and says what to do. With an overlay it takes the place "
    "of the daemon called NAME (a node's name, or `scheduler`), waits for the doctors of the other sites, and looks at "
    "each path: reachable in both directions, large messages, losses, NAT, clocks. Run it at all sites within --wait: "
    "the scheduler's, with --all, then shows what all have found. "
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
  bool all = false;
  bool json = false;
};

CommandLine MakeCommandLine(DoctorFlags& flags) {
  CommandLine line("banyan doctor", absl::StrCat(kDescription, kExplanation),
                   "banyan doctor overlay.yaml --name n1 --model-size 46MB");
  line.OptionalPositional("OVERLAY", "of the job; - for standard input", &flags.overlay);
  line.Text("name", "NAME", "whose place this is: a node's name, or scheduler", &flags.name);
  line.Time("wait", "TIME", "how long to wait for the doctors of other sites (default 30s)", absl::Seconds(1), 0,
            kLongestWait, &flags.wait_s);
  line.Time("load", "TIME", "load each direction of each path for about so long, to see its rate", absl::Seconds(1), 0,
            kLongestRateProbe, &flags.rate_s);
  line.FormerName("load", "rate");
  line.Megabytes("load-bytes", "the most that is sent for it, per direction (default 250MB)", 1, 1000,
                 &flags.rate_megabytes);
  line.FormerName("load-bytes", "rate-bytes", "MB");
  line.Time("idle", "TIME", "leave each connection alone for so long, to find time-outs of NATs", absl::Seconds(1), 0,
            kLongestWait, &flags.idle_s);
  line.Custom("model-size", "BYTES", "of the model, to see whether memory will do", [&flags](absl::string_view text) {
    const absl::StatusOr<int64_t> bytes = ReadModelBytes(text);
    if (bytes.ok()) flags.size.model_bytes = *bytes;
    return bytes.status();
  });
  line.Integer("tensors", "N", "keys of each worker (default 1)", 1, kMostTensors, &flags.size.tensors);
  line.Time("max-offset", "TIME", "how far chrony's clock may be off (default 5ms)", absl::Milliseconds(1), 0.001,
            kLargestOffsetMs, &flags.max_offset_ms);
  line.FormerName("max-offset", "max-offset-ms", "ms");
  line.Text("chronyc", "PATH", "chrony's client (default /usr/bin/chronyc)", &flags.chronyc);
  line.Switch("all", "with --name scheduler: show what the doctors of all sites find, in one table", &flags.all);
  line.Switch("json", "print JSON: ok, checks [{name, ok, text}]; with --all missing, paths, faults, sites",
              &flags.json);
  line.Needs("load-bytes", "load");
  line.Needs("all", "name");
  line.Needs("name", "OVERLAY");
  return line;
}

absl::StatusOr<OverlayConfig> ReadOverlay(const DoctorFlags& flags) {
  absl::StatusOr<OverlayConfig> overlay = LoadOverlay(flags.overlay);
  if (!overlay.ok()) return overlay;
  if (const absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  return overlay;
}

void PrintJson(const CheckResults& results, bool ok, std::ostream& out) {
  JsonWriter json;
  json.BeginObject().Name("ok").Boolean(ok).Name("checks");
  WriteChecks(results, json);
  out << json.EndObject().text() << "\n";
}

int Report(const CheckResults& results, const DoctorFlags& flags, std::ostream& out) {
  const bool ok = std::all_of(results.begin(), results.end(), [](const CheckResult& result) { return result.ok; });
  if (flags.json) {
    PrintJson(results, ok, out);
  } else {
    const bool has_colors = MayColor(out);
    for (const CheckResult& result : results) {
      const char* const color = !has_colors ? "" : result.ok ? "\033[32m" : "\033[31m";
      out << color << (result.ok ? "ok:" : "fix:") << (has_colors ? "\033[0m " : " ") << result.name << ": "
          << result.text << "\n";
    }
    if (!ok && flags.overlay.empty()) out << "\n" << kExplanation << "\n";
  }
  return ok ? kExitSuccess : kExitFaultFound;
}

int ReportAll(const WholeView& view, const DoctorFlags& flags, std::ostream& out) {
  out << (flags.json ? absl::StrCat(ViewJson(view), "\n") : FormatView(view));
  return FindFaults(view).empty() ? kExitSuccess : kExitFaultFound;
}

// Returns what is known of this machine.
CheckResults ExamineMachine(const DoctorFlags& flags, const HostNeeds& needs) {
  CheckResults results = CheckClock(flags.chronyc, absl::Milliseconds(flags.max_offset_ms));
  CheckResults more = CheckHost(ReadHostFacts(""), needs);
  results.insert(results.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return results;
}

// Looks at the paths of `site`, too, and where it collects at those of all sites.
int Examine(const OverlayConfig& overlay, const DoctorSite& site, const DoctorFlags& flags, std::ostream& out,
            std::ostream& err) {
  CheckResults results = ExamineMachine(flags, site.needs);
  results.push_back(CheckKey(overlay, site.is_scheduler ? kSchedulerSite : site.name, KeyFolders(flags.overlay)));
  const ExaminationOptions options = {.wait = absl::Seconds(flags.wait_s),
                                      .rate_time = absl::Seconds(flags.rate_s),
                                      .rate_bytes = static_cast<int64_t>(flags.rate_megabytes * 1e6),
                                      .idle_time = absl::Seconds(flags.idle_s),
                                      .collects = flags.all};
  std::map<std::string, CheckResults> reports = ExamineSite(site, options, results, err);
  if (!flags.all) return Report(results, flags, out);
  reports[site.name] = std::move(results);
  return ReportAll(MakeWholeView(overlay, site.name, std::move(reports)), flags, out);
}

}  // namespace

int DoctorCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  DoctorFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (!flags.overlay.empty() && flags.name.empty()) {
    return line.UsageError("expected --name, whose place this is", err);
  }
  if (flags.overlay.empty()) return Report(ExamineMachine(flags, HostNeeds()), flags, out);
  const absl::StatusOr<OverlayConfig> overlay = ReadOverlay(flags);
  const absl::StatusOr<DoctorSite> site =
      overlay.ok() ? MakeDoctorSite(*overlay, flags.name, flags.size) : overlay.status();
  if (!site.ok()) return line.Failure(site.status(), err);
  if (flags.all && !site->is_scheduler) {
    return line.UsageError(absl::StrCat("expected --all with --name ", kSchedulerSite,
                                        ", whom the doctors of all nodes tell what they find, got --name ", site->name),
                           err);
  }
  return Examine(*overlay, *site, flags, out, err);
}

}  // namespace banyan
