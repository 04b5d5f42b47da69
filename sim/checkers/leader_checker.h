// Checks that one scheduler at a time speaks for the job, and that the next one knows what those before have said.
// Thread-compatible; registered with the network, owned by the cluster.
//
// Invariants that it checks:
// - A term belongs to one start of one scheduler, and terms never fall. Starts that find the job over lead nothing, and
//   write no term: they say that it is over, and that alone.
// - An epoch begins once, before its plan, and by the word of one term.
// - Nothing is said of an epoch after a newer one has begun.
#ifndef BANYAN_SIM_CHECKERS_LEADER_CHECKER_H_
#define BANYAN_SIM_CHECKERS_LEADER_CHECKER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/ids.h"
#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

class LeaderChecker : public TrafficObserver {
 public:
  // `schedulers`: the processes of which one leads. `violations` outlives this.
  LeaderChecker(std::set<NodeId> schedulers, Violations* violations)
      : schedulers_(std::move(schedulers)), violations_(violations) {}

  void OnSent(const SentMessage& sent) override;
  void OnProcessStarted(Timestamp now, NodeId process) override;
  // All records are lost: the next scheduler begins another job.
  void OnRecordsLost();

 private:
  using Start = std::pair<NodeId, uint32_t>;  // of a process, and how many starts it had before

  void CheckTerm(const SentMessage& sent, Term term);
  void CheckBegin(const SentMessage& sent, Term term, Epoch epoch);
  // What is said of `epoch` is said of the newest one.
  void CheckEpoch(const SentMessage& sent, Epoch epoch);
  void Complain(const SentMessage& sent, const std::string& rule, const std::string& what);

  const std::set<NodeId> schedulers_;
  Violations* const violations_;
  std::map<NodeId, uint32_t> starts_;
  std::map<Term, Start> leaders_;
  Term last_term_;
  Epoch newest_;                 // that has begun or has a plan
  std::map<Epoch, Term> begun_;  // by whose word
  std::set<Epoch> planned_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_LEADER_CHECKER_H_
