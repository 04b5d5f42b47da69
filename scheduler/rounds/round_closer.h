// Collects the members' reports that they hold all results of a round, compares the hashes, and closes the round when
// the last one has come. Thread-compatible; owned by RoundBook.
//
// Invariants:
// - A round closes once, when all members have reported the hash of the first reporter. A hash of 0 says that a member
//   holds the results and has not read them: it agrees with any.
// - Only bound rounds are reported (RoundBook), which bounds the tallies.
#ifndef BANYAN_SCHEDULER_ROUNDS_ROUND_CLOSER_H_
#define BANYAN_SCHEDULER_ROUNDS_ROUND_CLOSER_H_

#include <cstddef>
#include <cstdint>
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
  enum class Outcome {
    kOpen,    // others have not reported yet
    kClosed,  // this was the last report
    kDiffers  // the first reporter has another result
  };
  struct FirstReport {
    NodeId node;
    uint64_t hash = 0;
  };

  bool IsClosed(KeyId key, Round round) const;
  // Returns the oldest round of the key that is not closed everywhere.
  Round FirstOpen(KeyId key) const;

  // Takes a node's report. Repeated reports of a node with the same hash change nothing. REQUIRES: the round is not
  // closed.
  Outcome Report(NodeId node, KeyId key, Round round, uint64_t hash, size_t member_count);
  // Returns the first report of an open round. REQUIRES: it has one.
  FirstReport FirstReportOf(KeyId key, Round round) const;
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
    FirstReport first;
    std::vector<bool> reported;  // by NodeId
    size_t reports = 0;
  };

  std::map<KeyId, ClosedRounds> closed_;
  std::map<std::pair<KeyId, Round>, Tally> tallies_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_ROUND_CLOSER_H_
