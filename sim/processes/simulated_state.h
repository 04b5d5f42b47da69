// The training state of a simulated worker: bytes that follow from the step after which it is, so that nothing is kept
// but for a worker that fetches. Thread-compatible; owned by its worker.
#ifndef BANYAN_SIM_PROCESSES_SIMULATED_STATE_H_
#define BANYAN_SIM_PROCESSES_SIMULATED_STATE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "proto/state_layout.h"
#include "protocol/state_call.h"

namespace banyan {

class SimulatedState {
 public:
  SimulatedState(WorkerId worker, int64_t size_bytes) : worker_(worker), layout_(size_bytes) {}

  StateShape shape() const { return {{{"state", layout_.total_bytes()}}}; }
  bool is_held() const { return is_held_; }

  // The worker waits at the boundary after `step`; none when it goes on.
  void SetBoundary(std::optional<uint64_t> step) { boundary_ = step; }
  // Makes room for what is written.
  void BeginFetch() { memory_.assign(layout_.total_bytes(), 0); }
  // Returns whether what was written is the state after `step`.
  bool HasState(uint64_t step) const;

  // Does what the core asks; returns what the worker answers, if anything.
  std::optional<StateCall> Answer(const StateTask& task);

 private:
  StateCall On(const ReadState& read) const;
  StateCall On(const WriteState& write);
  std::vector<uint8_t> ChunkAfter(uint64_t step, ChunkIndex chunk) const;

  const WorkerId worker_;
  const StateLayout layout_;
  bool is_held_ = false;
  std::optional<uint64_t> boundary_;
  std::vector<uint8_t> memory_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_SIMULATED_STATE_H_
