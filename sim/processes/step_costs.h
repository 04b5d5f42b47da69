// The time that a core takes to handle an event, by its kind. Value.
#ifndef BANYAN_SIM_PROCESSES_STEP_COSTS_H_
#define BANYAN_SIM_PROCESSES_STEP_COSTS_H_

#include <cstddef>
#include <type_traits>
#include <variant>

#include "absl/time/time.h"
#include "protocol/event.h"

namespace banyan {

// The defaults are what bench/step_benchmark.cc measures on one core of an ordinary machine, rounded up: with the
// decoding of the message and the encoding of what follows from it, without the sockets.
struct StepCosts {
  absl::Duration chunk = absl::Microseconds(4);
  absl::Duration message = absl::Microseconds(4);
  // For each acknowledgement, round, binding or key that a message names.
  absl::Duration entry = absl::Nanoseconds(100);
  absl::Duration computation = absl::Microseconds(3);
  absl::Duration worker_call = absl::Microseconds(11);
  absl::Duration deadline = absl::Microseconds(15);
  absl::Duration other = absl::Microseconds(7);

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

  // Returns how many things a message names.
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
