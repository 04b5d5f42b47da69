// Asks a scheduler for its status, once or again and again, as the protocol of a process that joins no job. Pure.
// Thread-compatible; owned by its driver.
#ifndef BANYAN_TOOLS_STATUS_PROBE_H_
#define BANYAN_TOOLS_STATUS_PROBE_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "core/protocol.h"

namespace banyan {

struct StatusProbeOptions {
  std::string scheduler;                       // tcp://host:port
  absl::Duration patience = absl::Seconds(5);  // for each answer; then the probe stops with UNAVAILABLE
  std::optional<absl::Duration> interval;      // between an answer and the next question; empty: one question
  std::function<void(const std::string& json)> on_status;  // on the driver's protocol thread
};

class StatusProbe : public Protocol {
 public:
  explicit StatusProbe(StatusProbeOptions options);

  Actions Step(Timestamp now, Event event) override;
  Timestamp NextDeadline() const override { return deadline_; }

 private:
  void Ask(Timestamp now, Actions& actions);
  void TakeAnswer(Timestamp now, const Message& message, Actions& actions);
  void OnDeadline(Timestamp now, Actions& actions);

  const StatusProbeOptions options_;
  bool connected_ = false;
  bool asked_ = false;
  // Of the answer while one is awaited, of the next question otherwise.
  Timestamp deadline_ = kNever;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_STATUS_PROBE_H_
