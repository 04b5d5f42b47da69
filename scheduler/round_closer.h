// Hears from every member that it holds all results of a round, compares the hashes, and says when a round is closed
// everywhere. Thread-compatible; owned by RoundBook, which lets only bound rounds in: that bounds the tallies.
#ifndef BANYAN_SCHEDULER_ROUND_CLOSER_H_
#define BANYAN_SCHEDULER_ROUND_CLOSER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/ids.h"

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
  // The oldest round of the key that is not closed everywhere.
  Round FirstOpen(KeyId key) const;

  // REQUIRES: the round is not closed. Repeated reports of a node with the same hash change nothing.
  Outcome Report(NodeId node, KeyId key, Round round, uint64_t hash, size_t member_count);
  // The first report of a round that is open and has one. REQUIRES: it has one.
  FirstReport FirstReportOf(KeyId key, Round round) const;
  // Puts back what was read from the state records. False when it was closed already.
  bool Restore(KeyId key, Round round);

  size_t open_tallies() const { return tallies_.size(); }

 private:
  struct Tally {
    FirstReport first;
    std::vector<bool> reported;  // by NodeId
    size_t reports = 0;
  };
  struct Closed {
    Round first_open;        // all rounds before are closed
    std::set<Round> beyond;  // closed although first_open is not
  };

  void MarkClosed(KeyId key, Round round);

  std::map<KeyId, Closed> closed_;
  std::map<std::pair<KeyId, Round>, Tally> tallies_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUND_CLOSER_H_
