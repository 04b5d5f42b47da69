// Breaks a running demo as somebody on its page asks: kills a node, cuts a link, sends others' traffic over it. On a
// thread of its own, which heals what it has cut. Thread-safe.
// Invariants:
// - Each request is answered once, at the latest by CANCELLED when the desk goes.
// - What is cut is healed kFaultLasts after the last request for it, or when the desk goes.
#ifndef BANYAN_TOOLS_DEMO_FAULT_DESK_H_
#define BANYAN_TOOLS_DEMO_FAULT_DESK_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posix/child_process.h"
#include "tools/chaos/chaos_job.h"
#include "tools/supervision/running_job.h"
#include "wan/wan_client.h"

namespace banyan {

enum class DemoFaultKind { kKillNode, kCutLink, kTraffic };

// How long a link is cut or shared with others.
inline constexpr absl::Duration kFaultLasts = absl::Seconds(10);

struct FaultRequest {
  DemoFaultKind kind = DemoFaultKind::kKillNode;
  std::string node = {};   // or one end of the link
  std::string other = {};  // the other end
  // Says what was done, or why nothing was. Called on the desk's thread.
  std::function<void(absl::StatusOr<std::string> done)> reply = {};
};

class FaultDesk {
 public:
  // `banyan_program` is a path; it sends the traffic.
  FaultDesk(const RunningJob& job, std::string banyan_program);
  FaultDesk(const FaultDesk&) = delete;
  FaultDesk& operator=(const FaultDesk&) = delete;
  ~FaultDesk();

  // Only an emulated WAN has links that can be cut and shared.
  bool has_links() const { return has_links_; }
  void Give(FaultRequest request);

 private:
  void Work();
  absl::StatusOr<std::string> Do(const FaultRequest& request);
  absl::StatusOr<std::string> Kill(const std::string& node);
  absl::StatusOr<std::string> Cut(const ChaosLink& link);
  absl::StatusOr<std::string> Share(const ChaosLink& link);
  void HealDue(absl::Time now);
  absl::Time NextHealing() const;

  const bool has_links_;
  const std::string banyan_program_;
  const std::string wan_directory_;
  const std::string log_path_;  // of who sends the traffic
  // Of the desk's thread.
  ChaosJob job_;
  std::map<ChaosLink, absl::Time> cut_;                         // until when
  std::map<ChaosLink, std::unique_ptr<ChildProcess>> traffic_;  // by the direction

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FaultRequest> requests_;  // guarded by mutex_
  bool ends_ = false;                  // guarded by mutex_
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_FAULT_DESK_H_
