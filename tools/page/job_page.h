// The page of a job, its files, and what feeds it.
#ifndef BANYAN_TOOLS_PAGE_JOB_PAGE_H_
#define BANYAN_TOOLS_PAGE_JOB_PAGE_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "proto/message.h"
#include "proto/status.h"
#include "runtime/http/http_route.h"
#include "runtime/metrics/metrics_page.h"
#include "tools/daemon/daemon_log.h"
#include "tools/page/job_history.h"
#include "tools/page/operator_routes.h"
#include "tools/page/order_queue.h"
#include "tools/trace/record_gatherer.h"

namespace banyan {

// A file of the page, as the build bundles them (BUILD of this folder).
struct PageFile {
  const char* path;  // at which it is served
  const char* content_type;
  absl::string_view bytes;
};

std::vector<PageFile> PageFiles();

// What a job's page is fed with: the newest status, and what became of the job before. One thread sets, any reads.
// Invariants:
// - `banyan status --json`, /api/status and the page are told the same.
class JobFeed {
 public:
  struct Known {
    JobStatus status;
    std::string json;  // of it
  };

  // Takes the status that came at `now`.
  void Set(JobStatus status, absl::Time now);

  // Takes the newest traced round, as JSON.
  void SetTrace(std::string json);

  // The newest; nullptr before the first.
  std::shared_ptr<const Known> Status() const;
  // The metrics of the newest status and of the rounds so far; none before the first.
  std::vector<MetricFamily> Metrics() const;
  // For a stream of events: `history`, which is JobHistory::JsonSince, `status` and `trace`, where they are new;
  // otherwise `beat`, by which a reader knows that the scheduler was heard again.
  std::string NextEvents(uint64_t& place) const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Known> status_;  // guarded by mutex_; shared with readers while the next takes its place
  uint64_t heard_ = 0;                   // guarded by mutex_; statuses and traces so far
  uint64_t changed_at_ = 0;              // guarded by mutex_; the last of them that differed from the one before
  JobHistory history_;                   // guarded by mutex_
  std::string trace_;                    // guarded by mutex_
  uint64_t traced_at_ = 0;               // guarded by mutex_; as changed_at_
};

// The page at /, its script and style, /api/status and /api/events. `feed` outlives their server.
std::vector<HttpRoute> JobPageRoutes(const JobFeed* feed);

// A job over HTTP: its page, its status, events of it, metrics, and orders of operators. It reads statuses and traces
// on a thread of its own, since large ones take longer than a scheduler's protocol may wait. Thread-compatible, but
// Take is for any thread. Invariants:
// - At most one status and one trace wait to be read: newer ones take their places.
class JobPage {
 public:
  // Serves at `http`, host:port, and logs where that is. Threads that this starts hold back the signals that their
  // maker does. UNAVAILABLE when it cannot be bound. `access` says who reads, and whose orders go to `requests`, if
  // there is one. `more` is served beside.
  static absl::StatusOr<std::unique_ptr<JobPage>> Serve(const std::string& http, const LogFunction& log,
                                                        const PageAccess& access = {},
                                                        std::shared_ptr<OrderQueue> requests = nullptr,
                                                        std::vector<HttpRoute> more = {});
  JobPage(const JobPage&) = delete;
  JobPage& operator=(const JobPage&) = delete;
  ~JobPage();

  // Takes the newest status and returns at once.
  void Take(JobStatus status);
  // Takes what the scheduler sends to whoever has asked for a trace; other messages are passed over.
  void TakeTraced(const Message& message);
  // http://host:port/, with the real port.
  std::string url() const;

 private:
  // Requests with wrong tokens. Of the server's thread.
  class WrongTokens {
   public:
    // Logs some of them.
    void Note(const std::string& from, const LogFunction& log);
    MetricFamily Metric() const;

   private:
    uint64_t count_ = 0;
    Timestamp next_line_;
  };

  JobPage() = default;
  void Read();

  JobFeed feed_;
  WrongTokens wrong_tokens_;
  std::unique_ptr<MetricsPage> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<JobStatus> next_;              // guarded by mutex_
  std::optional<GatheredRecords> next_trace_;  // guarded by mutex_
  bool ends_ = false;                          // guarded by mutex_
  RecordGatherer gatherer_;                    // of TakeTraced
  std::thread reader_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_JOB_PAGE_H_
