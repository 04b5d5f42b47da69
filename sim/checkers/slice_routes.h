// Knows the slices of keys, and the route of each slice in each round, from what the scheduler tells nodes.
// Thread-compatible; registered with the network before those who ask it, owned by the cluster.
//
// Invariants:
// - A round of a key has one answer under a policy: the newest. Whether others may follow the first, PolicyChecker
// says.
#ifndef BANYAN_SIM_CHECKERS_SLICE_ROUTES_H_
#define BANYAN_SIM_CHECKERS_SLICE_ROUTES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/ids.h"
#include "proto/precision/key_routes.h"
#include "sim/traffic_observer.h"
#include "topology/chunk_assignment.h"

namespace banyan {

class SliceRoutes : public TrafficObserver {
 public:
  struct Answer {
    Round last;
    KeyRoutes routes;
    int64_t chunk_max_elements = 0;
    Term term;  // of the scheduler that said so
  };
  struct Place {
    size_t slice = 0;
    ElementRange slice_range;
    ElementRange range;  // of the chunk
  };

  void OnSent(const SentMessage& sent) override;
  // All records are lost: the next scheduler begins another job.
  void OnRecordsLost();

  // Returns the answer that bound the round to the policy of a chunk; nothing where none did, which PolicyChecker says.
  const Answer* FindAnswer(const ChunkMessage& chunk) const;
  // Returns where the chunk lies in chunks as the answer has them; nothing where the key has no such chunk.
  std::optional<Place> FindPlace(const ChunkMessage& chunk, const Answer& answer);
  // Returns how many slices the key has: one, unless it was assigned with borders.
  size_t SlicesOf(KeyId key) const;
  // Empty for a key that was not assigned.
  std::string NameOf(KeyId key) const;

 private:
  using Answers = std::map<Round, Answer>;  // by first round

  void Take(PolicyVersion policy, KeyId key, Round first, const Answer& answer);

  std::map<KeyId, KeySlice> keys_;
  std::map<std::pair<KeyId, int64_t>, ChunkAssignment> chunks_;  // of one key, by the size of its chunks
  std::map<PolicyVersion, int64_t> chunk_sizes_;
  std::map<std::pair<PolicyVersion, KeyId>, Answers> answers_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_SLICE_ROUTES_H_
