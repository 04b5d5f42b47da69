// Leadership that a test gives and takes. Thread-safe.
#ifndef BANYAN_PROTOCOL_TESTING_FAKE_LEADERSHIP_H_
#define BANYAN_PROTOCOL_TESTING_FAKE_LEADERSHIP_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "core/time.h"
#include "protocol/leadership.h"

namespace banyan {

class FakeLeadership : public Leadership {
 public:
  // What the next campaigns return, one after another; later ones win.
  explicit FakeLeadership(std::deque<absl::Status> campaigns = {}) : campaigns_(std::move(campaigns)) {}

  void Win() { leads_until_ = kNever.nanoseconds(); }
  void Lose() { leads_until_ = 0; }
  void LeadUntil(Timestamp time) { leads_until_ = time.nanoseconds(); }

  absl::Status Campaign() override {
    if (campaigns_.empty()) return absl::OkStatus();
    absl::Status next = campaigns_.front();
    campaigns_.pop_front();
    return next;
  }
  Timestamp LeadsUntil() const override { return Timestamp::FromNanoseconds(leads_until_); }
  absl::Status WhyLost() const override { return absl::AbortedError("the test says so"); }

 private:
  std::deque<absl::Status> campaigns_;
  std::atomic<int64_t> leads_until_ = kNever.nanoseconds();
};

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_TESTING_FAKE_LEADERSHIP_H_
