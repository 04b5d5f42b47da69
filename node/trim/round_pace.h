// When the chunks of a round are due: where rounds without congestion had them. A round begins with its first chunk and
// ends when the results of all keys are here, which the first chunk of a later one tells. Of the last rounds the
// quarter that were fastest tell how long one takes. Chunks leave in the order of their places in the model, so that
// each is due at that part of the round. Time is handed in. Thread-compatible; owned by Trimmer.
//
// Invariants:
// - Nothing is due before kLearned rounds have ended.
#ifndef BANYAN_NODE_TRIM_ROUND_PACE_H_
#define BANYAN_NODE_TRIM_ROUND_PACE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"

namespace banyan {

class RoundPace {
 public:
  static constexpr size_t kLearned = 4;
  static constexpr size_t kRemembered = 16;
  // Of a round's time: what may pass after a chunk was due before nothing but its heads goes.
  static constexpr double kSlack = 0.1;

  struct Due {
    Timestamp at;
    absl::Duration slack;
  };

  // A chunk of the round, with `place` others of the model before it, is to be sent. The first begins the round.
  void OnChunk(Round round, uint32_t place, Timestamp now);
  // The round's result is here, of some key.
  void OnComplete(Round round, Timestamp now);

  // Returns when a chunk is due; empty when nobody knows.
  std::optional<Due> DueOf(Round round, uint32_t place) const;
  // Returns when the round's last results are due; empty when nobody knows.
  std::optional<Due> EndOf(Round round) const { return DueOf(round, places_ - 1); }

 private:
  // Remembers how long the rounds before this one took that have a result, and forgets them.
  void EndBefore(Round round);
  // Returns what a quarter of the remembered rounds did not take longer than. REQUIRES: some are remembered.
  absl::Duration FastRound() const;

  struct Seen {
    Timestamp begun;
    std::optional<Timestamp> complete;  // the last key so far
  };

  std::map<Round, Seen> seen_;       // the newest alone, but for chunks of earlier ones that come late
  std::deque<absl::Duration> took_;  // the last rounds
  uint32_t places_ = 1;              // of the model, as far as chunks have shown
};

}  // namespace banyan

#endif  // BANYAN_NODE_TRIM_ROUND_PACE_H_
