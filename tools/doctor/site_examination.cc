#include "tools/doctor/site_examination.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "tools/doctor/doctor_server.h"
#include "tools/doctor/path_checks.h"
#include "tools/doctor/path_probe.h"
#include "tools/doctor/site_report.h"

namespace banyan {
namespace {

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

}  // namespace

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

}  // namespace banyan
