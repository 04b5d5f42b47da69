// The training state of a simulated worker. It follows from a replica's mark, which changes with every result, so that
// nothing is kept but for a worker that fetches. Thread-compatible; owned by its worker.
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

// A model as it is after a step.
struct ReplicaMark {
  uint64_t step = 0;
  uint64_t lineage = 0;  // whose results it is made of: 0 for those who began with the first round
  uint64_t results = 0;  // a digest of them all
  friend bool operator==(const ReplicaMark&, const ReplicaMark&) = default;
};

class SimulatedState {
 public:
  // What a state has at least.
  static constexpr int64_t kLeastBytes = sizeof(ReplicaMark);

  // REQUIRES: `size_bytes` >= kLeastBytes.
  SimulatedState(WorkerId worker, int64_t size_bytes) : worker_(worker), layout_(size_bytes) {}

  StateShape shape() const { return {{{"state", layout_.total_bytes()}}}; }
  bool is_held() const { return is_held_; }

  // The worker waits at a boundary with this replica; none when it goes on.
  void SetBoundary(std::optional<ReplicaMark> replica) { boundary_ = replica; }
  // Makes room for what is written.
  void BeginFetch() { memory_.assign(layout_.total_bytes(), 0); }
  // Returns the replica whose state was written; none when it is not the whole state of one.
  std::optional<ReplicaMark> Fetched() const;

  // Does what the core asks; returns what the worker answers, if anything.
  std::optional<StateCall> Answer(const StateTask& task);

 private:
  StateCall On(const ReadState& read) const;
  StateCall On(const WriteState& write);
  std::vector<uint8_t> ChunkOf(const ReplicaMark& replica, ChunkIndex chunk) const;

  const WorkerId worker_;
  const StateLayout layout_;
  bool is_held_ = false;
  std::optional<ReplicaMark> boundary_;
  std::vector<uint8_t> memory_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_SIMULATED_STATE_H_
