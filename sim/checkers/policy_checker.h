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
#ifndef BANYAN_SIM_CHECKERS_POLICY_CHECKER_H_
#define BANYAN_SIM_CHECKERS_POLICY_CHECKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/ids.h"
#include "sim/checkers/bound_leases.h"
#include "sim/checkers/membership_watch.h"
#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

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
  // Every member of the epoch has said, when leases were to be cut for `policy`, that it has not begun the round.
  bool IsPromised(Epoch epoch, PolicyVersion policy, const KeyRound& round) const;
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
  // What members have said of cuts for a policy: the first rounds that they have not begun.
  std::map<std::pair<Epoch, PolicyVersion>, std::map<NodeId, std::map<KeyId, Round>>> promises_;
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
