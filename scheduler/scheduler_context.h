// What the parts of SchedulerCore share: the time of the running step, the outbox for its actions, and the count of
// rejected messages. Thread-compatible; owned by the core. It outlives the parts, which keep a pointer to it.
#ifndef BANYAN_SCHEDULER_SCHEDULER_CONTEXT_H_
#define BANYAN_SCHEDULER_SCHEDULER_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/time.h"
#include "scheduler/outbox.h"
#include "scheduler/state/state_log.h"
#include "scheduler/state/state_record.h"

namespace banyan {

// Counts what peers sent in vain and says so in few enough lines that no peer can flood the log. Thread-compatible;
// owned by SchedulerContext.
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

struct SchedulerContext {
  Timestamp now;
  Outbox outbox;
  RejectionCounter rejections;
  StateLog* state_log = nullptr;  // follows the records; none in tests of single parts

  // Makes the record durable before any message that is sent after it.
  void Persist(const StateRecord& record) {
    outbox.Persist(now, state_log != nullptr ? state_log->Append(record) : EncodeStateRecord(record));
  }
  // Returns for how long the oldest record that is not durable has been on its way; zero without one.
  absl::Duration StorageStandsFor() const {
    return outbox.IsAllDurable() ? absl::ZeroDuration() : now - outbox.waits_since();
  }
  void LogInfo(std::string text) { outbox.Log(LogLevel::kInfo, std::move(text)); }
  void LogWarning(std::string text) { outbox.Log(LogLevel::kWarning, std::move(text)); }
  // Counts a message that a peer sent in vain. Logs `what` was wrong with it, unless there are too many such lines.
  void Reject(const std::string& what) {
    std::optional<std::string> line = rejections.Reject(now, what);
    if (line.has_value()) LogWarning(*std::move(line));
  }
};

// Names a number of things: "1 node", "2 nodes".
inline std::string CountOf(size_t count, const std::string& what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_SCHEDULER_CONTEXT_H_
