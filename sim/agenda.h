// Everything that is still to happen in a simulation, and the simulated time. Thread-compatible; owned by the
// simulator, shared by the network and the processes, which put down what follows from what they do.
#ifndef BANYAN_SIM_AGENDA_H_
#define BANYAN_SIM_AGENDA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "core/timed_queue.h"
#include "protocol/computation.h"
#include "protocol/event.h"

namespace banyan {

// A connection as the network counts them; both its ends know it by ConnectionIds of their own.
using ConnectionIndex = uint32_t;

struct MessageArrival {
  ConnectionIndex connection = 0;
  uint32_t generation = 0;  // of the connection when the message was sent
  bool to_opener = false;
  bool past_host_cap = false;
  int64_t size_bytes = 0;
  Message message;
  Payload payload;
  bool is_go_away = false;  // the acceptor's word, which the opener's driver hears
};

// The end of a connection that opened it, or the one that accepted it, learns that it is gone.
struct LossNoticed {
  ConnectionIndex connection = 0;
  uint32_t generation = 0;
  bool by_opener = false;
};

// The opener dials; one round trip later it is answered.
struct Dialled {
  ConnectionIndex connection = 0;
  bool answered = false;
};

// A paced connection passes its next message on, unless its pace has changed since.
struct PaceDue {
  ConnectionIndex connection = 0;
  uint32_t change = 0;
};

// `life` counts the starts of a process: what belonged to an earlier one is dropped.
struct CoreEvent {
  NodeId process;
  uint32_t life = 0;
  Event event;
};

struct ComputationDue {
  NodeId process;
  uint32_t life = 0;
  ComputationId id;
  std::unique_ptr<Computation> computation;
  bool has_run = false;
  absl::Duration time = absl::ZeroDuration();  // that a thread takes for it
};

struct TimerDue {
  NodeId process;
  uint32_t life = 0;
};

struct PauseEnded {
  NodeId process;
  uint32_t life = 0;
};

struct ScheduledCall {
  std::function<void()> call;
};

using Occurrence = std::variant<ScheduledCall, MessageArrival, LossNoticed, Dialled, PaceDue, CoreEvent, ComputationDue,
                                TimerDue, PauseEnded>;

class Agenda {
 public:
  Timestamp now() const { return now_; }
  bool empty() const { return queue_.empty(); }
  size_t size() const { return queue_.size(); }
  // REQUIRES: !empty().
  Timestamp NextTime() const { return queue_.NextTime(); }

  // Nothing happens in the past: an earlier time means now.
  template <typename T>
  void At(Timestamp time, T occurrence) {
    queue_.Push(time < now_ ? now_ : time, Occurrence(std::move(occurrence)));
  }
  void CallAt(Timestamp time, std::function<void()> call) { At(time, ScheduledCall{std::move(call)}); }
  void CallAfter(absl::Duration delay, std::function<void()> call) { CallAt(now_ + delay, std::move(call)); }

  // Takes the first occurrence out and moves the time on to it. REQUIRES: !empty().
  Occurrence Next() {
    auto item = queue_.Pop();
    now_ = item.time;
    return std::move(item.value);
  }
  // REQUIRES: nothing is to happen before `time`.
  void AdvanceTo(Timestamp time) { now_ = time; }

 private:
  TimedQueue<Occurrence> queue_;
  Timestamp now_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_AGENDA_H_
