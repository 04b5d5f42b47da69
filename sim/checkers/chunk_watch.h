// Knows the chunks of each tensor's rounds, and the epochs in which their results were made, from what nodes send.
// Thread-compatible; registered with the network, owned by the cluster.
//
// Invariants that it checks:
// - The result of a chunk that was made in one epoch is the same wherever it travels, as far as it is not encoded.
#ifndef BANYAN_SIM_CHECKERS_CHUNK_WATCH_H_
#define BANYAN_SIM_CHECKERS_CHUNK_WATCH_H_

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "sim/traffic_observer.h"
#include "sim/training/training_plan.h"
#include "sim/violations.h"

namespace banyan {

class ChunkWatch : public TrafficObserver {
 public:
  struct Chunk {
    int64_t first_element = 0;
    int64_t elements = 0;
    std::set<Epoch> made_in;  // empty while no result has travelled
  };

  // Both outlive this.
  ChunkWatch(const TrainingPlan* plan, Violations* violations) : plan_(plan), violations_(violations) {}

  void OnSent(const SentMessage& sent) override;

  // In rising order of elements; empty while not all of them have travelled.
  std::vector<Chunk> ChunksOf(size_t tensor, Round round) const;

 private:
  using Chunks = std::map<ChunkIndex, Chunk>;
  using MadeChunk = std::tuple<KeyId, Round, ChunkIndex, Epoch>;

  void CheckResult(const SentMessage& sent, const ChunkMessage& message, Epoch made_in);

  const TrainingPlan* const plan_;
  Violations* const violations_;
  std::map<MadeChunk, uint64_t> results_;  // by what was made, its hash
  std::map<KeyId, size_t> tensors_;
  std::map<std::pair<size_t, Round>, Chunks> rounds_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_CHUNK_WATCH_H_
