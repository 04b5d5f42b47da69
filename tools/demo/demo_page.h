// The page of a demo's job, which the demo serves itself: on an emulated WAN nobody outside reaches the scheduler's. It
// also breaks the demo for whoever has its address. Thread-compatible, but Take is for any thread.
#ifndef BANYAN_TOOLS_DEMO_DEMO_PAGE_H_
#define BANYAN_TOOLS_DEMO_DEMO_PAGE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/demo/fault_desk.h"
#include "tools/page/job_page.h"
#include "tools/supervision/running_job.h"

namespace banyan {

class DemoPage {
 public:
  // Serves on a free port of loopback. UNAVAILABLE when there is none.
  static absl::StatusOr<std::unique_ptr<DemoPage>> Serve(const RunningJob& job, const std::string& banyan_program);
  DemoPage(const DemoPage&) = delete;
  DemoPage& operator=(const DemoPage&) = delete;

  // Takes the newest status, as JSON, and returns at once.
  void Take(std::string json) { page_->Take(std::move(json)); }
  // Where it is, with the token by which its buttons work.
  std::string url() const;

 private:
  DemoPage(const RunningJob& job, const std::string& banyan_program, std::string token)
      : token_(std::move(token)), desk_(job, banyan_program) {}

  const std::string token_;
  FaultDesk desk_;  // outlives the page, whose requests it takes
  std::unique_ptr<JobPage> page_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_PAGE_H_
