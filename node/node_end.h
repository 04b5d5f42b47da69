// When a node's core stops, and with which status. Thread-compatible; owned by NodeCore.
//
// Invariants:
// - The first status stands.
#ifndef BANYAN_NODE_NODE_END_H_
#define BANYAN_NODE_NODE_END_H_

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/time.h"

namespace banyan {

class NodeEnd {
 public:
  // The programs that stop daemons kill those that take much longer.
  static constexpr absl::Duration kLongestFarewell = absl::Seconds(5);

  // `with_job`: also when the job is over, and not only when it is asked to.
  explicit NodeEnd(bool with_job) : with_job_(with_job) {}

  // It stops now.
  void Stop(absl::Status status) {
    due_ = kNever;
    if (!status_.has_value()) status_ = std::move(status);
  }
  // Somebody asks for a stop. It comes in kLongestFarewell at the latest, so that others get what they still need.
  void Ask(Timestamp now) {
    is_asked_for_ = true;
    due_ = std::min(due_, now + kLongestFarewell);
  }
  // Others need nothing from the node any more.
  void OnLeft() {
    if (is_asked_for_) Stop(absl::OkStatus());
  }
  // The scheduler says that the job is over.
  void OnJobOver(absl::Status status) {
    if (with_job_) Stop(std::move(status));
  }
  // The node cannot go on. The scheduler, which may still have to hear of it, says in kLongestFarewell how the job is.
  void OnFailure(Timestamp now, const absl::Status& status) {
    if (!with_job_ || is_asked_for_ || failure_.has_value()) return;
    failure_ = status;
    due_ = now + kLongestFarewell;
  }
  // Returns whether it is time for Stop(due_status()).
  bool IsDue(Timestamp now) const { return now >= due_; }
  absl::Status due_status() const { return failure_.value_or(absl::OkStatus()); }
  Timestamp NextDeadline() const { return due_; }
  // Returns the status with which the core stops; empty until it does.
  const std::optional<absl::Status>& status() const { return status_; }

 private:
  const bool with_job_;
  bool is_asked_for_ = false;
  Timestamp due_ = kNever;
  std::optional<absl::Status> failure_;
  std::optional<absl::Status> status_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_NODE_END_H_
