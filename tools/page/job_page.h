// A job over HTTP: its page, its status, events of it, metrics, and orders of operators. It reads statuses and traces
// on a thread of its own, since large ones take longer than a scheduler's protocol may wait. Thread-compatible, but
// Take is for any thread. Invariants:
// - At most one status and one trace wait to be read: newer ones take their places.
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
#include "core/time.h"
#include "proto/message.h"
#include "runtime/metrics/metrics_page.h"
#include "tools/daemon/daemon_log.h"
#include "tools/page/job_feed.h"
#include "tools/page/operator_routes.h"
#include "tools/page/order_desk.h"
#include "tools/trace/record_gatherer.h"

namespace banyan {

class JobPage {
 public:
  // Serves at `http`, host:port, and logs where that is. Threads that this starts hold back the signals that their
  // maker does. UNAVAILABLE when it cannot be bound. `access` says who reads, and whose orders go to `desk`, if there
  // is one. `more` is served beside.
  static absl::StatusOr<std::unique_ptr<JobPage>> Serve(const std::string& http, const LogFunction& log,
                                                        const PageAccess& access = {},
                                                        std::shared_ptr<OrderDesk> desk = nullptr,
                                                        std::vector<HttpRoute> more = {});
  JobPage(const JobPage&) = delete;
  JobPage& operator=(const JobPage&) = delete;
  ~JobPage();

  // Takes the newest status, as JSON, and returns at once.
  void Take(std::string json);
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
  std::optional<std::string> next_;            // guarded by mutex_
  std::optional<GatheredRecords> next_trace_;  // guarded by mutex_
  bool ends_ = false;                          // guarded by mutex_
  RecordGatherer gatherer_;                    // of TakeTraced
  std::thread reader_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_JOB_PAGE_H_
