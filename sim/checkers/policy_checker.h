// The checker of policies, and what it and others count and keep of them.
#ifndef BANYAN_SIM_CHECKERS_POLICY_CHECKER_H_
#define BANYAN_SIM_CHECKERS_POLICY_CHECKER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/functional/function_ref.h"
#include "core/ids.h"
#include "sim/checkers/membership_watch.h"
#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

// Counts the policies that the scheduler published. Thread-compatible; owned by whoever runs the simulation, and
// outlives the network that it observes.
class PolicyCount : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* published = std::get_if<PolicyPublished>(&sent.message);
    if (published != nullptr) versions_.insert(published->slice.version);
  }

  size_t count() const { return versions_.size(); }

 private:
  std::set<PolicyVersion> versions_;
};

// What the scheduler has said about which policy governs which rounds of one key in one epoch, and which rounds have
// been sent anything of. Thread-compatible; owned by PolicyChecker.
//
// Invariants:
// - The leases do not overlap.
// - A round that a chunk was sent of is never bound anew, nor is any to an earlier policy, or unasked.
class BoundLeases {
 public:
  struct Bound {
    PolicyVersion policy;
    Attempt attempt;
    KeyRoutes route = {};
    friend bool operator==(const Bound&, const Bound&) = default;
  };
  // A cut of leases; {} is before all.
  using Cut = std::pair<Term, CutId>;
  struct Lease {
    Round last;
    Bound bound;
    Term term;  // of the scheduler that said so
    Cut cut;    // that moved the rounds last
  };
  struct Conflict {
    Round round;
    PolicyVersion before;
  };

  // Binds the rounds. Returns where that contradicts what was said, or done, before. `cut_of` returns the last cut that
  // may move rounds from one on, to a later policy or another route.
  std::optional<Conflict> Bind(Round first, Round last, const Bound& bound, Term term,
                               absl::FunctionRef<Cut(Round)> cut_of) {
    Split(first);
    Split(last.Next());
    std::optional<Conflict> conflict;
    for (auto lease = leases_.lower_bound(first); lease != leases_.end() && lease->first <= last; ++lease) {
      if (lease->second.bound == bound) continue;
      // A scheduler that leads no more may not know better; nobody listens to it who has heard of the one that does.
      if (term < lease->second.term) continue;
      const bool is_begun = used_.has_value() && lease->first <= *used_;
      const Cut cut = cut_of(lease->first);
      const bool moves = lease->second.bound.policy <= bound.policy && !is_begun && lease->second.cut < cut;
      if (!moves && !conflict.has_value()) conflict = Conflict{lease->first, lease->second.bound.policy};
      lease->second = {lease->second.last, bound, term, moves ? cut : lease->second.cut};
    }
    Fill(first, last, bound, term, cut_of);
    return conflict;
  }
  // A chunk of the round was sent. Returns what binds it.
  std::optional<Bound> Use(Round round) {
    used_ = std::max(used_.value_or(round), round);
    const auto lease = Covering(round);
    return lease == leases_.end() ? std::nullopt : std::optional(lease->second.bound);
  }
  const std::map<Round, Lease>& leases() const { return leases_; }

 private:
  std::map<Round, Lease>::iterator Covering(Round round) {
    auto after = leases_.upper_bound(round);
    if (after == leases_.begin()) return leases_.end();
    const auto lease = std::prev(after);
    return lease->second.last >= round ? lease : leases_.end();
  }
  // A lease that has rounds before `at` ends there, and another one has the rest.
  void Split(Round at) {
    const auto lease = Covering(at);
    if (lease == leases_.end() || lease->first == at) return;
    const Lease rest = lease->second;
    lease->second.last = Round(at.value() - 1);
    leases_.emplace(at, rest);
  }
  void Fill(Round first, Round last, const Bound& bound, Term term, absl::FunctionRef<Cut(Round)> cut_of) {
    Round next = first;
    for (auto lease = leases_.lower_bound(first); next <= last; next = std::prev(lease)->second.last.Next()) {
      if (lease != leases_.end() && lease->first == next) {
        ++lease;
        continue;
      }
      const bool is_last = lease == leases_.end() || lease->first > last;
      const Round end = is_last ? last : Round(lease->first.value() - 1);
      lease = std::next(leases_.emplace_hint(lease, next, Lease{end, bound, term, cut_of(next)}));
    }
  }

  std::map<Round, Lease> leases_;  // by first round
  std::optional<Round> used_;      // the last one that a chunk was sent of
};

// Checks what the scheduler says about rounds against what nodes do with it. Thread-compatible; registered with the
// network, owned by the cluster.
//
// Invariants that it checks:
// - In an epoch a key's round has one policy on all members, published before it is named. It may change to a later one
//   before anything is sent of the round or a later one, when every member has promised for that not to begin it.
// - A round is closed everywhere only when every member has said so since it started, or a plan has closed it.
// - The plan of an epoch opens no round that is closed, and closes only what all have reported that were members
// before.
// - A policy is retired only when all its rounds are closed.
class PolicyChecker : public TrafficObserver {
 public:
  // `members` nodes make a round while `membership` does not know them. Pointers outlive this.
  PolicyChecker(uint32_t members, const MembershipWatch* membership, Violations* violations)
      : members_(members), membership_(membership), violations_(violations) {}

  void OnSent(const SentMessage& sent) override;
  void OnDelivered(const SentMessage& sent) override;
  void OnProcessStarted(Timestamp now, NodeId process) override;

 private:
  using KeyRound = std::pair<KeyId, Round>;
  using KeyRun = std::pair<KeyId, KeyId>;  // both inclusive
  struct Closing {
    // By node that holds the round's result: the run of keys that it said so of, and the run's digest.
    std::map<NodeId, std::pair<KeyRun, uint64_t>> hashes;
    bool is_closed = false;
  };

  void TakeHeld(NodeId node, const RoundsClosed::Entry& entry);
  // The scheduler lets a node in: what it has said before was said by a former start of it.
  void ForgetFormerStart(NodeId node);
  void CheckPublished(const SentMessage& sent, PolicyVersion policy, KeyId key, Round first_round);
  void Bind(const SentMessage& sent, Epoch epoch, Term term, const PolicyAnswer::Binding& now);
  // Returns the last cut in which every member of the epoch has said that it has not begun the round; {} without one.
  BoundLeases::Cut CutOf(Epoch epoch, const KeyRound& round) const;
  void CheckPlan(const SentMessage& sent, const EpochPlan& plan);
  void CheckFrontier(const SentMessage& sent, const EpochPlan& plan, const EpochPlan::Frontier& frontier);
  // The scheduler has said so, of the round itself or with the plan of an epoch before this one.
  bool IsClosed(const KeyRound& round, Epoch before = Epoch(UINT64_MAX)) const;
  // Every member holds the round's result.
  bool IsHeldByAll(const KeyRound& round) const;
  void CheckAnswer(const SentMessage& sent, const PolicyAnswer& answer);
  void CheckChunk(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckRetired(const SentMessage& sent, const PoliciesRetired& retired);
  void CheckClosed(const SentMessage& sent, const ClosedEverywhere& closed);

  const uint32_t members_;
  const MembershipWatch* const membership_;
  Violations* const violations_;
  PolicyVersion oldest_;  // that the scheduler has not retired
  Epoch epoch_;           // the newest that has begun: bindings of earlier ones are void
  std::map<std::pair<Epoch, KeyId>, BoundLeases> bound_;
  using Promises = std::map<NodeId, std::map<KeyId, Round>>;
  bool IsPromised(Epoch epoch, const Promises& promises, const KeyRound& round) const;

  // What members have said in cuts: the first rounds that they have not begun.
  std::map<Epoch, std::map<BoundLeases::Cut, Promises>> promises_;
  std::map<std::pair<Epoch, KeyRound>, RoundKind> kinds_;  // who had said otherwise may be gone in the next epoch
  std::map<KeyRound, Closing> closing_;
  std::map<std::pair<KeyId, Epoch>, Round> first_open_;                  // by plans; earlier rounds are closed
  std::set<NodeId> started_again_;                                       // and not let in since
  std::map<std::pair<Epoch, NodeId>, std::map<KeyRun, Round>> reports_;  // the first rounds that they lack
  // (connection, generation, version) on which the version was published.
  std::set<std::tuple<uint32_t, uint32_t, PolicyVersion>> published_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_POLICY_CHECKER_H_
