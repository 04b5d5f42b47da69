// Compares what members hold of results: the digests of the runs of keys that they report, which add up. Members cut
// their runs where they happen to be when they speak. So all are compared with the first that speaks of a round, where
// their runs and its own end at the same keys. Who differs from more than half of the members is wrong; where nobody
// has so many on its side nobody knows who is. Thread-compatible; owned by JobRounds.
//
// Invariants:
// - A run that does not end where the first member's do waits, joined to those of its member beside it, until it does.
//   When all members have spoken of all keys, none waits.
// - A difference is told as soon as it is known who is wrong, or that nobody will know, and once.
// - What all members have confirmed is forgotten, and so are the oldest of more than kMostRounds rounds.
#ifndef BANYAN_SCHEDULER_ROUNDS_RESULT_DIGESTS_H_
#define BANYAN_SCHEDULER_ROUNDS_RESULT_DIGESTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/ids.h"

namespace banyan {

class ResultDigests {
 public:
  static constexpr size_t kMostRounds = 256;

  // The results of keys `first_key` to `last_key` in one round, as two members hold them.
  struct Difference {
    Round round;
    KeyId first_key;
    KeyId last_key;
    NodeId node;
    uint64_t digest = 0;
    NodeId other;
    uint64_t other_digest = 0;
    bool is_outlier = false;  // `node` is wrong, and `other` on the side of most
  };
  using Differences = std::vector<Difference>;

  // Takes what `node` says: the digest of its results of keys `first` to `last` in the round. What it said of them
  // before counts no more. Returns the differences that are known by it: several of outliers, or one.
  Differences Report(NodeId node, Round round, KeyId first, KeyId last, uint64_t digest, size_t member_count);
  // Notes that `node` will not say of all keys in the round what it holds.
  Differences NoteUnread(NodeId node, Round round, size_t member_count);
  // Forgets everything: another set of members says what it holds.
  void Clear() { rounds_.clear(); }

  // Returns the number of runs that are kept.
  size_t size() const;

 private:
  // What another member says of the first one's runs of these keys, taken together.
  struct Stance {
    KeyId first;
    KeyId last;
    uint64_t difference = 0;  // its digest minus that of the first member
  };
  struct Run {
    KeyId last;
    uint64_t digest = 0;
    std::map<NodeId, Stance> stances = {};
  };
  using Runs = std::map<KeyId, Run>;  // by the first key; they do not overlap
  struct OfRound {
    NodeId first_node;
    Runs of_first_node;
    std::map<NodeId, Runs> waiting;  // of the others
    std::set<NodeId> unread;
    std::set<NodeId> told;  // outliers
  };

  // Adds a run in place of those that overlap it, of which nobody has said anything then.
  static void Put(Runs& runs, KeyId first, Run run);
  // Forgets what the node has said.
  static void Forget(Runs& runs, NodeId node, const Stance& stance);
  // Makes one run of those that are beside each other.
  static void Join(Runs& runs);
  // Compares those of the node's runs that end where the first node's do. Their keys are among the changed ones.
  static void Compare(OfRound& round, NodeId node, KeyRun& changed);
  // Notes what the node says of the first node's runs from `begin` to `end`, in place of what it has said.
  static void Note(Runs& runs, Runs::iterator begin, Runs::iterator end, NodeId node, const Run& said);
  // Says who is wrong in these keys, and forgets the runs of which all have spoken. Nobody speaks of the round any more
  // when it `is_over`.
  static void Judge(Round number, OfRound& round, const KeyRun& changed, size_t member_count, bool is_over,
                    Differences& differences);
  // The same of runs that belong together, since a member has spoken of them together.
  static void Judge(Round number, OfRound& round, Runs::const_iterator begin, Runs::const_iterator end,
                    size_t member_count, bool is_over, Differences& differences);
  // Returns the first node's runs that make up `run`; an empty range when none do.
  static std::pair<Runs::iterator, Runs::iterator> FindSame(Runs& runs, KeyId first, const Run& run);

  std::map<Round, OfRound> rounds_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_RESULT_DIGESTS_H_
