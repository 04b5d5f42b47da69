// The rounds of the job: binds each round of a key to a policy, answers the nodes that ask which one, and closes rounds
// that all members have finished. The first request fixes the answer for all (NETSTORM, section VII-A), until a cut
// moves rounds that nobody has begun to a later policy. While membership changes it is frozen. Thread-compatible; owned
// by the core.
//
// Invariants:
// - In an epoch a round is bound once, to one policy and route, for all members. A cut binds those anew, to a later
//   policy or another route, that no member has begun, nor will begin before it hears of it.
// - While a cut is under way nobody hears of leases that it may move. When it is over all hear of all.
// - While it is frozen nothing is bound, answered or closed: requests wait, and what members hold they report anew.
// - A round is closed when every member has reported it. What members hold of it is compared meanwhile, in runs of
//   keys. Who differs from most is an outlier, and where there is no majority the job ends; perhaps after the round was
//   closed.
// - A key has at most window_rounds() open rounds. Requests beyond wait, kMaxParkedRequests at most. Whose requests
// found
//   no room is known, and is to ask anew when there is some.
// - Every binding and closed round is returned to the caller, which makes it durable before it sends the answers.
#ifndef BANYAN_SCHEDULER_ROUNDS_JOB_ROUNDS_H_
#define BANYAN_SCHEDULER_ROUNDS_JOB_ROUNDS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/rounds/lease_pacer.h"
#include "scheduler/rounds/result_digests.h"
#include "scheduler/rounds/route_source.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/state/round_ledger.h"
#include "scheduler/state/state_record.h"

namespace banyan {

// The outcome of a request or a report. A failure ends the job; the rest counts only without one.
struct RoundOutcome {
  struct Answer {
    NodeId node;
    std::vector<PolicyAnswer::Binding> bindings;
  };
  std::vector<BoundRounds> new_bindings;                 // to make durable before the answers leave
  std::vector<Answer> answers;                           // at most one per node
  std::vector<ClosedEverywhere::Entry> closed;           // now; for every member
  std::vector<ClosedEverywhere::Entry> closed_before;    // long ago; for the asker alone, which seems not to know
  std::vector<std::string> rejections;                   // one for each entry that was wrong
  std::vector<std::pair<NodeId, std::string>> outliers;  // whose results are wrong, and why
  std::set<NodeId> forgotten;                            // requests of them were; there is room for them now
  absl::Status failure;
};

class JobRounds {
 public:
  using ClosedByRoute = std::map<KeyRoutes, uint64_t>;

  // Begins without rounds. `keys` must outlive this; `node_names`, by NodeId - 1, are for messages. REQUIRES:
  // rounds_in_flight >= 1. A lease covers the rounds of about `lease`.
  JobRounds(const KeyTable* keys, std::vector<std::string> node_names, absl::Duration lease, uint32_t rounds_in_flight);

  // Takes the names of nodes that were added to the overlay.
  void SetNodeNames(std::vector<std::string> names) { node_names_ = std::move(names); }

  // What rounds are bound by from now on.
  struct Rule {
    PolicyVersion policy;
    uint64_t routes = 0;  // rises when AdoptRoutes changes some
    friend bool operator==(const Rule&, const Rule&) = default;
  };
  Rule rule() const { return {policy_, adoptions_}; }

  // Takes routes from this source from now on; plain ones before. It outlives this.
  void UseRoutes(const RouteSource* routes) { routes_ = routes; }
  // Binds rounds by the routes that the source has now, until this is called again. Returns whether some key had
  // others, or none before. REQUIRES: no cut is under way.
  bool AdoptRoutes();
  // Returns how many rounds of the key, after round 0, have closed by each route since the start of the scheduler.
  ClosedByRoute ClosedOf(KeyId key) const {
    return key.value() < closed_with_.size() ? closed_with_[key.value()] : ClosedByRoute();
  }

  // Binds rounds to `policy`, of `member_count` members, from now on. The first round of a key that is bound to it is
  // the first that it governs. Chunks of low-bit rounds follow from `chunk_max_elements`, those of the policy; with 0
  // they are the same.
  void UsePolicy(PolicyVersion policy, size_t member_count, int64_t chunk_max_elements = 0);
  // Notes that a member has left: no other round is bound in this epoch. Requests for one wait for the next, if it
  // comes: nodes ask ahead of time.
  void SetDeparted() { has_departed_ = true; }
  bool has_departed() const { return has_departed_; }
  // Membership changes: all waits for Rebind, and a cut under way is forgotten.
  void Freeze() {
    is_frozen_ = true;
    forgotten_.clear();  // all ask anew under the plan
    cut_.reset();
  }
  bool is_frozen() const { return is_frozen_; }
  // Goes on with `members` under the plan of a new epoch, whose policy is used from now on. Answers what they have
  // asked for meanwhile.
  RoundOutcome Rebind(Timestamp now, const EpochPlanRecord& plan, const std::vector<NodeId>& members);

  // Returns whether rounds are bound by a former rule so far ahead that they are worth a cut.
  bool IsWorthCutting() const;
  // Begins to cut the leases that a former rule has made, in place of a cut that is under way.
  void BeginCut() { cut_ = policy_; }
  // The policy of the rule for which a cut is under way.
  const std::optional<PolicyVersion>& cut() const { return cut_; }
  // Says which leases the cut moves where no member has begun the rounds of a key from `begun` on, by key. Keys that
  // are not in it have not begun. REQUIRES: a cut is under way.
  CutRecord PlanCut(const std::map<KeyId, Round>& begun) const;
  // Carries that out. Returns all leases: members have forgotten most. Without an entry the leases stay as they are.
  std::vector<PolicyAnswer::Binding> FinishCut(const CutRecord& cut);
  // Says which rounds are closed although an earlier round of their key is not. A plan has no room for these: whoever
  // is new takes no part in them, and has to be told.
  std::vector<ClosedEverywhere::Entry> ClosedBeyond() const;

  // Answers a node's request, and binds the rounds that are not bound yet.
  RoundOutcome Request(Timestamp now, NodeId node, const PolicyRequest& request);
  // Takes a node's report that it holds the results of rounds. Unequal hashes make outliers, or fail the job with
  // DATA_LOSS.
  RoundOutcome Report(Timestamp now, NodeId node, const RoundsClosed& report);

  // Goes on with what the state records have led to.
  void Restore(RoundLedger ledger);
  const RoundLedger& ledger() const { return ledger_; }

  // Returns the oldest policy that governs an open round; the one in use if there is none.
  PolicyVersion OldestPolicy() const { return std::min(ledger_.leases().OldestPolicy().value_or(policy_), policy_); }
  Round FirstOpen(KeyId key) const { return ledger_.ClosedOf(key).first_open; }
  // Returns the round after the last one of the key that is closed.
  Round AfterClosed(KeyId key) const { return ledger_.AfterClosed(key); }
  // Returns the round after the last one of the key that is bound or closed.
  Round AfterLast(KeyId key) const;
  // Returns the bound rounds of the key from `first` that are not closed, as runs of equal bindings, in order.
  std::vector<BoundRounds> OpenFrom(KeyId key, Round first) const;
  // Returns whether any round has begun.
  bool HasBegun() const;
  // Returns whether any round is closed: all who took part in it reached each other.
  bool HasClosed() const { return !ledger_.closed().empty(); }
  // Returns whether the node has reported that it holds the result of an open round.
  bool HasReported(NodeId node, KeyId key, Round round) const;
  std::string Describe(KeyId key, Round round) const;

  size_t bindings() const { return ledger_.leases().size(); }
  size_t parked() const { return parked_.size(); }
  size_t open_tallies() const { return tallies_.size(); }

 private:
  // By key, round and node, so that answers come in that order.
  struct ParkedId {
    KeyId key;
    Round round;
    NodeId node;
    friend auto operator<=>(const ParkedId&, const ParkedId&) = default;
  };
  // Who has reported an open round.
  struct Tally {
    std::vector<bool> reported;  // by NodeId
    size_t reports = 0;
  };

  void RequestOne(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome);
  void Park(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome);
  void AnswerOne(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome);
  // Closes rounds of the entry's keys, and compares their results.
  void ReportRun(NodeId node, const RoundsClosed::Entry& entry, RoundOutcome& outcome);
  // Binds the round, and those after it for as long as a lease is or up to the next bound one. Round 0 is bound singly.
  BoundRounds Bind(KeyId key, Round round);
  // Takes the report of one key's round. Returns whether the round is open, or was until now.
  bool ReportOne(NodeId node, KeyId key, Round round, RoundOutcome& outcome);
  std::string Describe(const ResultDigests::Difference& difference) const;
  // Puts what is wrong into the outcome.
  void Take(const ResultDigests::Differences& differences, RoundOutcome& outcome) const;
  void Unpark(KeyId key, RoundOutcome& outcome);
  void UnparkAll(const std::vector<NodeId>& members, RoundOutcome& outcome);
  const std::string& NameOf(NodeId node) const;
  // Returns the routes that rounds of the key are bound by. Sums go low-bit alone, and round 0 is none.
  KeyRoutes RouteOf(KeyId key, Round round) const {
    if (routes_ == nullptr || round == Round(0)) return PrecisionRoute::kPlain;
    const auto adopted = adopted_.find(key);
    return adopted == adopted_.end() ? routes_->RouteOf(key) : adopted->second;
  }
  // Returns the largest chunk of rounds with these routes under the policy; 0 for that of the policy.
  int64_t ChunkOf(KeyId key, PolicyVersion policy, KeyRoutes route) const;
  void CountClosed(KeyId key, Round round, KeyRoutes route) {
    if (round == Round(0)) return;
    if (closed_with_.size() <= key.value()) closed_with_.resize(size_t{key.value()} + 1);
    ++closed_with_[key.value()][route];
  }
  bool InWindow(KeyId key, Round round) const;
  uint64_t window_rounds() const {
    return std::max(kMinOpenWindowRounds, kOpenWindowFactor * (pacer_.longest() + rounds_in_flight_));
  }

  const KeyTable* keys_;
  std::vector<std::string> node_names_;
  PolicyVersion policy_;
  size_t member_count_ = 0;
  bool has_departed_ = false;
  bool is_frozen_ = false;
  std::optional<PolicyVersion> cut_;
  uint64_t rounds_in_flight_;
  LeasePacer pacer_;
  RoundLedger ledger_;
  std::map<std::pair<KeyId, Round>, Tally> tallies_;  // of bound rounds, which bounds them
  ResultDigests digests_;
  std::set<ParkedId> parked_;
  std::set<NodeId> forgotten_;  // requests of them have found no room there
  const RouteSource* routes_ = nullptr;
  uint64_t adoptions_ = 0;
  std::map<KeyId, KeyRoutes> adopted_;          // of keys that have had a round since, or were there
  std::vector<ClosedByRoute> closed_with_;      // by KeyId
  std::map<PolicyVersion, int64_t> chunks_of_;  // the largest chunk of policies that rounds are, or may be, bound to
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_JOB_ROUNDS_H_
