// Counts what peers sent in vain and says so in few enough lines that no peer can flood the log. Thread-compatible;
// owned by SchedulerContext.
#ifndef BANYAN_SCHEDULER_REJECTION_COUNTER_H_
#define BANYAN_SCHEDULER_REJECTION_COUNTER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/time.h"

namespace banyan {

class RejectionCounter {
 public:
  // Counts one rejection; the line to log, unless this interval (kRejectionLineInterval) has had its share. What comes
  // again and again is said the first, second, fourth, eighth ... time.
  std::optional<std::string> Reject(Timestamp now, const std::string& what);

  uint64_t count() const { return count_; }

 private:
  uint64_t count_ = 0;
  std::map<std::string, uint64_t> said_;  // how often each came, of the newest kMostRejectionsKept at most
  std::optional<Timestamp> interval_start_;
  int lines_ = 0;
  uint64_t unsaid_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_REJECTION_COUNTER_H_
