// Asks a job's scheduler one thing, once or again and again, and others aside, as the protocol of a process that joins
// no job. Of several schedulers it asks one that takes its connection, which those that stand by do not. Pure.
// Thread-compatible; owned by its driver.
#ifndef BANYAN_TOOLS_SCHEDULER_PROBE_H_
#define BANYAN_TOOLS_SCHEDULER_PROBE_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "protocol/protocol.h"
#include "runtime/transport/security_options.h"

namespace banyan {

struct SchedulerProbeOptions {
  std::vector<std::string> schedulers;                     // tcp://host:port, at least one
  std::optional<SecurityOptions> security = std::nullopt;  // with which keys; none: it has none
  std::string key_file = {};                               // where they are from, for errors
  // Asked again when the connection is lost before the answer, which changes nothing about the patience. After
  // SchedulerProbe::kMostLost times the probe stops with RESOURCE_EXHAUSTED: an answer larger than a message may be
  // ends the connection each time.
  Message question;
  absl::Duration patience = absl::Seconds(5);  // for each answer; then the probe stops with UNAVAILABLE
  // For the first connection; then the probe stops too.
  absl::Duration connect_patience = absl::InfiniteDuration();
  std::optional<absl::Duration> interval;  // between an answer and the next question; empty: one question
  // With an interval: told once when an answer to a later question does not come in time, and the probe asks on. Empty:
  // it stops.
  std::function<void(const absl::Status& why)> on_silence = {};
  // Asked after an answer; true ends the probe although `interval` is set. Empty: never.
  std::function<bool()> is_done = {};
  // Returns whether the message answers the question; others are passed over. On the driver's protocol thread.
  std::function<bool(const Message& message)> on_answer;
  // Asked after each answer for something that the same scheduler is to be asked besides; nothing waits for its answer.
  // Empty: never.
  std::function<std::optional<Message>()> aside = {};
  // Returns whether the message belongs to what was asked aside; then it is nothing else. Empty: none does.
  std::function<bool(const Message& message)> on_aside = {};
};

class SchedulerProbe : public Protocol {
 public:
  static constexpr int kMostLost = 3;

  explicit SchedulerProbe(SchedulerProbeOptions options);

  Actions Step(Timestamp now, Event event) override;
  Timestamp NextDeadline() const override { return deadline_; }

 private:
  void Begin(Timestamp now, Actions& actions);
  void Ask(Actions& actions);
  void OnLost(ConnectionId connection, Actions& actions);
  void TakeAnswer(Timestamp now, const Message& message, Actions& actions);
  void AskAside(Actions& actions);
  // Ends the probe where the one asked refuses to answer; other messages are passed over.
  void TakeRefusal(const Message& message, Actions& actions);
  void OnDeadline(Timestamp now, Actions& actions);
  // How long the probe waits now.
  absl::Duration Patience() const;

  const SchedulerProbeOptions options_;
  std::set<ConnectionId> up_;
  std::string failure_;    // why a connection was not made, lastly
  ConnectionId asked_at_;  // of the newest question
  bool asked_ = false;
  bool is_on_its_way_ = false;  // the question, on asked_at_
  int lost_ = 0;                // connections before the answer
  bool was_up_ = false;         // a connection was
  bool was_answered_ = false;
  bool is_silent_ = false;  // which was told
  // The deadline of the answer while one is awaited, of the next question otherwise.
  Timestamp deadline_ = kNever;
};

// Runs a probe on this thread until it stops, or until SIGTERM or Ctrl-C, which is no error.
absl::Status AskScheduler(SchedulerProbeOptions options);

}  // namespace banyan

#endif  // BANYAN_TOOLS_SCHEDULER_PROBE_H_
