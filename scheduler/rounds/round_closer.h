// Collects the members' reports that they hold all results of a round, and closes the round when the last one has come.
// Thread-compatible; owned by RoundBook.
//
// Invariants:
// - A round closes once, when all members have reported it.
// - Only bound rounds are reported (RoundBook), which bounds the tallies.
#ifndef BANYAN_SCHEDULER_ROUNDS_ROUND_CLOSER_H_
#define BANYAN_SCHEDULER_ROUNDS_ROUND_CLOSER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "scheduler/state/state_record.h"

namespace banyan {

class RoundCloser {
 public:
  bool IsClosed(KeyId key, Round round) const;
  // Returns the oldest round of the key that is not closed everywhere.
  Round FirstOpen(KeyId key) const;

  // Returns the round after the last one of the key that is closed.
  Round AfterClosed(KeyId key) const;

  // Takes a node's report, and returns whether it was the last one, with which the round closes. Repeated reports of a
  // node change nothing. REQUIRES: the round is not closed.
  bool Report(NodeId node, KeyId key, Round round, size_t member_count);
  // Returns which nodes have reported the round, by NodeId; nullptr before the first report and after the last.
  const std::vector<bool>* ReportersOf(KeyId key, Round round) const;
  // Forgets all reports of open rounds: another set of members reports what it holds.
  void RestartTallies() { tallies_.clear(); }
  // Closes all rounds of the key before `open`.
  void AdvanceTo(KeyId key, Round open);
  // Returns the rounds of the key that are closed although an earlier one is open.
  std::set<Round> Beyond(KeyId key) const;
  // Takes the closed rounds of a key from the state records.
  void Restore(KeyId key, ClosedRounds closed) { closed_[key] = std::move(closed); }

  size_t open_tallies() const { return tallies_.size(); }

 private:
  struct Tally {
    std::vector<bool> reported;  // by NodeId
    size_t reports = 0;
  };

  std::map<KeyId, ClosedRounds> closed_;
  std::map<std::pair<KeyId, Round>, Tally> tallies_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_ROUND_CLOSER_H_
