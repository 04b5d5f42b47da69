#include "tools/page/job_page.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "access/exposure.h"
#include "posix/steady_clock.h"
#include "tools/daemon/daemon_run.h"
#include "tools/metrics/node_metrics.h"
#include "tools/metrics/scheduler_metrics.h"
#include "tools/reports/round_chart.h"
#include "tracing/job_trace.h"

namespace banyan {

// --- the feed ---

void JobFeed::Set(JobStatus status, absl::Time now) {
  std::string json = StatusJson(status);
  auto known = std::make_shared<const Known>(std::move(status), std::move(json));
  const std::lock_guard<std::mutex> lock(mutex_);
  ++heard_;
  if (status_ != nullptr && status_->json == known->json) return;
  status_.swap(known);
  changed_at_ = heard_;
  history_.Add(status_->status, now, heard_);
}

void JobFeed::SetTrace(std::string json) {
  const std::lock_guard<std::mutex> lock(mutex_);
  traced_at_ = ++heard_;
  trace_ = std::move(json);
}

std::shared_ptr<const JobFeed::Known> JobFeed::Status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

std::vector<MetricFamily> JobFeed::Metrics() const {
  std::shared_ptr<const Known> known;
  Histogram round_times;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    known = status_;
    round_times = history_.round_times();
  }
  if (known == nullptr) return {};
  std::vector<MetricFamily> families = MakeSchedulerMetrics(known->status);
  families.push_back(MakeRoundTimesMetric("scheduler", round_times));
  return families;
}

std::string JobFeed::NextEvents(uint64_t& place) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (place == heard_) return "";
  if (place >= changed_at_ && place >= traced_at_) {
    place = heard_;
    return "event: beat\ndata: {}\n\n";
  }
  std::string events;
  if (place < changed_at_) {
    const std::string history = history_.JsonSince(place);
    if (!history.empty()) absl::StrAppend(&events, "event: history\ndata: ", history, "\n\n");
    absl::StrAppend(&events, "event: status\ndata: ", status_->json, "\n\n");
  }
  if (place < traced_at_) absl::StrAppend(&events, "event: trace\ndata: ", trace_, "\n\n");
  place = heard_;
  return events;
}

std::vector<HttpRoute> JobPageRoutes(const JobFeed* feed) {
  std::vector<HttpRoute> routes;
  for (const PageFile& file : PageFiles()) {
    routes.push_back({file.path, [file] { return HttpContent{file.content_type, std::string(file.bytes)}; }});
  }
  routes.push_back({"/api/status", [feed] {
                      const std::shared_ptr<const JobFeed::Known> known = feed->Status();
                      // As the scheduler's own before its first second has passed.
                      return HttpContent{"application/json", known == nullptr ? "{}" : known->json};
                    }});
  routes.push_back({"/api/events", nullptr, [feed](uint64_t& place) { return feed->NextEvents(place); }});
  return routes;
}

// --- the page ---

namespace {

constexpr char kMetrics[] = "/metrics";
// Of wrong tokens.
constexpr absl::Duration kBetweenLines = absl::Minutes(1);

}  // namespace

void JobPage::WrongTokens::Note(const std::string& from, const LogFunction& log) {
  ++count_;
  const Timestamp now = SteadyNow();
  if (now < next_line_) return;
  next_line_ = now + kBetweenLines;
  log(LogLevel::kWarning,
      absl::StrCat("the dashboard was asked with ", count_, " wrong tokens so far, the last from ", from));
}

MetricFamily JobPage::WrongTokens::Metric() const {
  return {.name = "banyan_scheduler_page_wrong_tokens_total",
          .help = "Requests to the dashboard with an unknown token.",
          .kind = MetricFamily::Kind::kCounter,
          .samples = {{.labels = {}, .value = static_cast<double>(count_)}}};
}

absl::StatusOr<std::unique_ptr<JobPage>> JobPage::Serve(const std::string& http, const LogFunction& log,
                                                        const PageAccess& access, std::shared_ptr<OrderQueue> requests,
                                                        std::vector<HttpRoute> more) {
  std::unique_ptr<JobPage> page(new JobPage);
  const JobFeed* const feed = &page->feed_;
  std::vector<HttpRoute> routes = JobPageRoutes(feed);
  for (HttpRoute& route : OperatorRoutes(access, std::move(requests))) routes.push_back(std::move(route));
  // Only who leads has a page.
  routes.push_back(ReadinessRoute([] { return true; }));
  for (HttpRoute& route : more) routes.push_back(std::move(route));
  HttpAccess readers = {.hosts = access.hosts};
  if (access.readers_token.is_wanted()) readers.token = [token = access.readers_token] { return token.Get(); };
  readers.on_wrong_token = [wrong = &page->wrong_tokens_, log](const std::string& from) { wrong->Note(from, log); };
  absl::StatusOr<std::unique_ptr<MetricsPage>> server = ServeMetrics(
      http,
      [feed, wrong = &page->wrong_tokens_] {
        std::vector<MetricFamily> families = feed->Metrics();
        families.push_back(wrong->Metric());
        families.push_back(MakeBuildInfoMetric());
        return families;
      },
      log, std::move(routes), std::move(readers));
  if (!server.ok()) return server.status();
  page->server_ = *std::move(server);
  if (!access.operators.empty() && !IsLoopback(absl::StrCat("tcp://", http))) {
    log(LogLevel::kWarning, absl::StrCat("operators' tokens cross the network in the clear on their way to ", http,
                                         ": serve it on loopback, behind ssh -L or a proxy that speaks TLS"));
  }
  page->reader_ = std::thread(&JobPage::Read, page.get());
  log(LogLevel::kInfo, absl::StrCat("dashboard at ", page->url()));
  return page;
}

std::string JobPage::url() const {
  const std::string metrics = server_->url();
  return metrics.substr(0, metrics.size() - sizeof(kMetrics) + 2);
}

void JobPage::Take(JobStatus status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    next_ = std::move(status);
  }
  changed_.notify_one();
}

void JobPage::TakeTraced(const Message& message) {
  if (const auto* piece = std::get_if<TracePiece>(&message)) return gatherer_.Take(*piece);
  const auto* end = std::get_if<TraceEnd>(&message);
  if (end == nullptr) return;
  gatherer_.End(*end);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    next_trace_ = gatherer_.TakeAll();
  }
  changed_.notify_one();
}

void JobPage::Read() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || next_.has_value() || next_trace_.has_value(); });
    if (ends_) return;
    std::optional<JobStatus> status = std::exchange(next_, std::nullopt);
    std::optional<GatheredRecords> traced = std::exchange(next_trace_, std::nullopt);
    lock.unlock();
    if (status.has_value()) feed_.Set(*std::move(status), absl::Now());
    if (traced.has_value()) {
      const JobTrace trace = MakeJobTrace(traced->records, std::move(traced->names));
      feed_.SetTrace(RoundChartJson(MakeRoundChart(trace, std::move(traced->end.missing))));
    }
    server_->Wake();
    lock.lock();
  }
}

JobPage::~JobPage() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  if (reader_.joinable()) reader_.join();
}

}  // namespace banyan
