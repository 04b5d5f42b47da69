#include "tools/page/job_page.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tools/metrics/daemon_metrics.h"
#include "tools/metrics/scheduler_metrics.h"
#include "tools/reports/status_view.h"

namespace banyan {
namespace {

constexpr char kMetrics[] = "/metrics";

std::vector<MetricFamily> CollectStatus(const JobFeed& feed) {
  const std::shared_ptr<const std::string> json = feed.Status();
  if (json == nullptr) return {};
  const absl::StatusOr<StatusView> view = ParseStatus(*json);
  return view.ok() ? MakeSchedulerMetrics(*view) : std::vector<MetricFamily>();
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobPage>> JobPage::Serve(const std::string& http, const LogFunction& log,
                                                        const std::string& token) {
  std::unique_ptr<JobPage> page(new JobPage);
  const JobFeed* const feed = &page->feed_;
  absl::StatusOr<std::unique_ptr<MetricsPage>> server = ServeMetrics(
      http, [feed] { return CollectStatus(*feed); }, log, JobPageRoutes(feed), token);
  if (!server.ok()) return server.status();
  page->server_ = *std::move(server);
  page->reader_ = std::thread(&JobPage::ReadStatuses, page.get());
  log(LogLevel::kInfo, absl::StrCat("the job's page at ", page->url()));
  return page;
}

std::string JobPage::url() const {
  const std::string metrics = server_->url();
  return metrics.substr(0, metrics.size() - sizeof(kMetrics) + 2);
}

void JobPage::Take(std::string json) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    next_ = std::move(json);
  }
  changed_.notify_one();
}

void JobPage::ReadStatuses() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || next_.has_value(); });
    if (ends_) return;
    const std::string json = *std::exchange(next_, std::nullopt);
    lock.unlock();
    feed_.Set(json, absl::Now());
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
