// The page of a demo, and how it breaks the demo.
#ifndef BANYAN_TOOLS_DEMO_DEMO_PAGE_H_
#define BANYAN_TOOLS_DEMO_DEMO_PAGE_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/http/http_route.h"
#include "tools/chaos/chaos_job.h"
#include "tools/page/job_page.h"
#include "tools/page/operator_routes.h"
#include "tools/supervision/running_job.h"

namespace banyan {

// How long a link is cut or shared with others.
inline constexpr absl::Duration kFaultLasts = absl::Seconds(10);

struct FaultRequest {
  ChaosKind kind = ChaosKind::kKillNode;
  std::string node = {};   // or one end of the link
  std::string other = {};  // the other end
  // Says what was done, or why nothing was. Called on the requests's thread.
  std::function<void(absl::StatusOr<std::string> done)> reply = {};
};

// Breaks a running demo as somebody on its page asks: kills a node, cuts a link, sends others' traffic over it. On a
// thread of its own, which heals what it has cut. Thread-safe.
// Invariants:
// - Each request is answered once, at the latest by CANCELLED when the requests goes.
// - What is cut or shared is so until kFaultLasts after the last request for it, or until the requests goes.
class FaultRequests {
 public:
  // `banyan_program` is for ChaosJob.
  FaultRequests(const RunningJob& job, std::string banyan_program);
  FaultRequests(const FaultRequests&) = delete;
  FaultRequests& operator=(const FaultRequests&) = delete;
  ~FaultRequests();

  // Only an emulated WAN has links that can be cut and shared.
  bool has_links() const { return has_links_; }
  void Give(FaultRequest request);

 private:
  void Work(ChaosJob& job);
  absl::StatusOr<std::string> Do(const FaultRequest& request, ChaosJob& job) const;

  const bool has_links_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FaultRequest> requests_;  // guarded by mutex_
  bool ends_ = false;                  // guarded by mutex_
  std::thread thread_;
};

// Returns the paths by which a demo is broken over HTTP, whose answers are JSON: `accepted` and `text`. /api/faults
// tells whether there are links that can be cut. By POST of an operator of `access`: `kill` takes a node's name; `cut`
// and `traffic` take the two ends of a link, with a space between. `give` takes what was asked for, on the server's
// thread.
std::vector<HttpRoute> FaultRoutes(const PageAccess& access, bool has_links,
                                   const std::function<void(FaultRequest request)>& give);

// The page of a demo's job, which the demo serves itself: on an emulated WAN nobody outside reaches the scheduler's. It
// also breaks the demo for whoever has its address. Thread-compatible, but Take is for any thread.
class DemoPage {
 public:
  // Serves on a free port of loopback. UNAVAILABLE when there is none.
  static absl::StatusOr<std::unique_ptr<DemoPage>> Serve(const RunningJob& job, const std::string& banyan_program);
  DemoPage(const DemoPage&) = delete;
  DemoPage& operator=(const DemoPage&) = delete;

  // Takes the newest status and returns at once.
  void Take(JobStatus status) { page_->Take(std::move(status)); }
  // Where it is, with the token by which its buttons work.
  std::string url() const;

 private:
  DemoPage(const RunningJob& job, const std::string& banyan_program, std::string token)
      : token_(std::move(token)), requests_(job, banyan_program) {}

  const std::string token_;
  FaultRequests requests_;  // outlives the page, whose requests it takes
  std::unique_ptr<JobPage> page_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_PAGE_H_
