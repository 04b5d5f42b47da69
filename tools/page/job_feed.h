// What a job's page is fed with: the newest status, and what became of the job before. One thread sets, any reads.
// Invariants:
// - A status is kept as the scheduler encoded it: `banyan status --json`, /api/status and the page are told the same.
#ifndef BANYAN_TOOLS_PAGE_JOB_FEED_H_
#define BANYAN_TOOLS_PAGE_JOB_FEED_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/http/http_route.h"
#include "tools/page/job_history.h"

namespace banyan {

class JobFeed {
 public:
  // Takes the status that came at `now`, as JSON. Text that is none still shows at /api/status.
  void Set(const std::string& json, absl::Time now);

  // Takes the newest traced round, as JSON.
  void SetTrace(std::string json);

  // The newest, as it came; nullptr before the first.
  std::shared_ptr<const std::string> Status() const;
  // For a stream of events: `history`, which is JobHistory::JsonSince, `status` and `trace`, where they are new;
  // otherwise `beat`, by which a reader knows that the scheduler was heard again.
  std::string NextEvents(uint64_t& place) const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> status_;  // guarded by mutex_; shared with readers while the next takes its place
  uint64_t heard_ = 0;                         // guarded by mutex_; statuses and traces so far
  uint64_t changed_at_ = 0;                    // guarded by mutex_; the last of them that differed from the one before
  JobHistory history_;                         // guarded by mutex_
  std::string trace_;                          // guarded by mutex_
  uint64_t traced_at_ = 0;                     // guarded by mutex_; as changed_at_
};

// The page at /, its script and style, /api/status and /api/events. `feed` outlives their server.
std::vector<HttpRoute> JobPageRoutes(const JobFeed* feed);

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_JOB_FEED_H_
