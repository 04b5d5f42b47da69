// Chunks of which this node is the root and from which every member abstains. There is nothing to wait for, and nobody
// who is in a hurry: such a round ends after a while, so that a job without a worker does not race through rounds, and
// a worker that attaches finds its first round soon. Round 0 alone waits on. Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - Of several silent rounds of a key in a row each waits twice as long as the one before, up to kMostWaits times the
//   shortest wait.
#ifndef BANYAN_NODE_ROUNDS_SILENT_ROUNDS_H_
#define BANYAN_NODE_ROUNDS_SILENT_ROUNDS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/rounds/reduce_half.h"

namespace banyan {

class SilentRounds {
 public:
  using Part = std::pair<AttemptId, ChunkIndex>;
  static constexpr uint32_t kMostWaits = 8;

  explicit SilentRounds(absl::Duration shortest_wait) : shortest_wait_(shortest_wait) {}

  // Notes that everybody abstains from a chunk of an attempt.
  void Add(const AttemptId& attempt, ChunkIndex chunk, Timestamp now) {
    InARow& in_a_row = keys_[attempt.key];
    if (attempt.round > in_a_row.last || in_a_row.waits == 0) {
      in_a_row = {attempt.round, in_a_row.waits == 0 ? 1 : std::min(kMostWaits, 2 * in_a_row.waits)};
    }
    parts_.emplace(now + in_a_row.waits * shortest_wait_, Part{attempt, chunk});
  }
  // Notes that somebody has spoken in a round of the key.
  void OnSpoken(KeyId key) { keys_.erase(key); }
  // Takes the parts that have waited long enough.
  std::vector<Part> TakeDue(Timestamp now) {
    std::vector<Part> due;
    while (!parts_.empty() && parts_.begin()->first <= now) due.push_back(parts_.extract(parts_.begin()).mapped());
    return due;
  }
  // Forgets the parts: their attempts are gone.
  void Clear() { parts_.clear(); }
  Timestamp NextDeadline() const { return parts_.empty() ? kNever : parts_.begin()->first; }

 private:
  struct InARow {
    Round last;
    uint32_t waits = 0;  // of the last, in shortest waits
  };

  absl::Duration shortest_wait_;
  std::multimap<Timestamp, Part> parts_;
  std::map<KeyId, InARow> keys_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_SILENT_ROUNDS_H_
