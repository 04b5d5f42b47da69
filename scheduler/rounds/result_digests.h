// Compares what members hold of results: the digests of the runs of keys that they report, which add up. Members cut
// their runs where they happen to be when they speak. So all are compared with the first that speaks of a round, where
// their runs and its own end at the same keys. Thread-compatible; owned by RoundBook.
//
// Invariants:
// - A run that does not end where the first member's do waits, joined to those of its member beside it, until it does.
//   When all members have spoken of all keys, none waits.
// - What all members have confirmed is forgotten, and so are the oldest of more than kMostRounds rounds.
#ifndef BANYAN_SCHEDULER_ROUNDS_RESULT_DIGESTS_H_
#define BANYAN_SCHEDULER_ROUNDS_RESULT_DIGESTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/ids.h"

namespace banyan {

class ResultDigests {
 public:
  static constexpr size_t kMostRounds = 256;

  // The results of keys `first_key` to `last_key` in one round, as two members hold them.
  struct Difference {
    KeyId first_key;
    KeyId last_key;
    NodeId first_node;  // who spoke first of the round
    uint64_t first_digest = 0;
    NodeId node;
    uint64_t digest = 0;
  };

  // Takes what `node` says: the digest of its results of keys `first` to `last` in the round. What it said of them
  // before counts no more. Returns a difference to what another one said, if there is any.
  std::optional<Difference> Report(NodeId node, Round round, KeyId first, KeyId last, uint64_t digest,
                                   size_t member_count);
  // Forgets everything: another set of members says what it holds.
  void Clear() { rounds_.clear(); }

  // Returns the number of runs that are kept.
  size_t size() const;

 private:
  struct Run {
    KeyId last;
    uint64_t digest = 0;
    std::set<NodeId> confirmed_by = {};
  };
  using Runs = std::map<KeyId, Run>;  // by the first key; they do not overlap
  struct OfRound {
    NodeId first_node;
    Runs of_first_node;
    std::map<NodeId, Runs> waiting;  // of the others
  };

  // Adds a run in place of those that overlap it.
  static void Put(Runs& runs, KeyId first, Run run);
  // Makes one run of those that are beside each other.
  static void Join(Runs& runs);
  // Compares those of the node's runs that end where the first node's do.
  static std::optional<Difference> Compare(OfRound& round, NodeId node, size_t member_count);
  // Returns the first node's runs that make up `run`; an empty range when none do.
  static std::pair<Runs::iterator, Runs::iterator> FindSame(Runs& runs, KeyId first, const Run& run);

  std::map<Round, OfRound> rounds_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_RESULT_DIGESTS_H_
