// The time that a core takes to handle an event, by its kind. Value.
#ifndef BANYAN_SIM_PROCESSES_STEP_COSTS_H_
#define BANYAN_SIM_PROCESSES_STEP_COSTS_H_

#include <cstddef>
#include <type_traits>
#include <variant>

#include "absl/time/time.h"
#include "protocol/event.h"

namespace banyan {

// The defaults are what `bench:step_benchmark` says of one core of an ordinary machine, rounded up, with the decoding
// of a message and the encoding of what it makes the core send.
struct StepCosts {
  absl::Duration chunk = absl::Microseconds(12);
  absl::Duration message = absl::Microseconds(5);
  // Of a message that names several: for each acknowledgement, round, binding, key.
  absl::Duration entry = absl::Nanoseconds(500);
  absl::Duration computation = absl::Microseconds(6);
  absl::Duration worker_call = absl::Microseconds(8);
  absl::Duration deadline = absl::Microseconds(4);
  absl::Duration other = absl::Microseconds(2);

  absl::Duration Of(const Event& event) const {
    if (const auto* received = std::get_if<MessageReceived>(&event)) {
      if (std::holds_alternative<ChunkMessage>(received->message)) return chunk;
      return message + entry * static_cast<double>(EntriesIn(received->message));
    }
    if (std::holds_alternative<ComputationFinished>(event)) return computation;
    if (std::holds_alternative<WorkerCalled>(event)) return worker_call;
    if (std::holds_alternative<DeadlineReached>(event)) return deadline;
    return other;
  }

 private:
  static size_t EntriesIn(const Message& message) {
    return std::visit(
        [](const auto& m) -> size_t {
          if constexpr (requires { m.entries.size(); }) {
            return m.entries.size();
          } else if constexpr (requires { m.bindings.size(); }) {
            return m.bindings.size();
          } else if constexpr (requires { m.keys.size(); }) {
            return m.keys.size();
          } else {
            return 0;
          }
        },
        message);
  }
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_STEP_COSTS_H_
