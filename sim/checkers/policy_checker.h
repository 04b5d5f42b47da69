// Checks what the scheduler says about rounds against what nodes do with it. Thread-compatible; registered with the
// network, owned by the cluster.
//
// Invariants that it checks:
// - A key's round has one policy on all members, published before it is named.
// - Terms never fall.
// - A round is closed everywhere only when every member has said so.
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
#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

class PolicyChecker : public TrafficObserver {
 public:
  // `members` nodes make a round. `violations` outlives this.
  PolicyChecker(uint32_t members, Violations* violations) : members_(members), violations_(violations) {}

  void OnSent(const SentMessage& sent) override;
  void OnDelivered(const SentMessage& sent) override;

 private:
  using KeyRound = std::pair<KeyId, Round>;
  struct Bound {
    PolicyVersion policy;
    Epoch epoch;
    Attempt attempt;
  };
  struct Closing {
    std::map<NodeId, uint64_t> hashes;  // by node that holds the round's result
  };

  void CheckTerm(const SentMessage& sent);
  void CheckAnswer(const SentMessage& sent, const PolicyAnswer& answer);
  void CheckChunk(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckRetired(const SentMessage& sent, const PoliciesRetired& retired);
  void CheckClosed(const SentMessage& sent, const ClosedEverywhere& closed);

  const uint32_t members_;
  Violations* const violations_;
  Term last_term_;
  PolicyVersion oldest_;  // that the scheduler has not retired
  std::map<KeyRound, Bound> bound_;
  std::map<KeyRound, RoundKind> kinds_;
  std::map<KeyRound, Closing> closing_;
  // (connection, generation, version) on which the version was published.
  std::set<std::tuple<uint32_t, uint32_t, PolicyVersion>> published_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_POLICY_CHECKER_H_
