// What the scheduler has said about which policy governs which rounds of one key in one epoch, and which rounds have
// been sent anything of. Thread-compatible; owned by PolicyChecker.
//
// Invariants:
// - The leases do not overlap.
// - A round that a chunk was sent of is never bound anew, nor is any to an earlier policy, or unasked.
#ifndef BANYAN_SIM_CHECKERS_BOUND_LEASES_H_
#define BANYAN_SIM_CHECKERS_BOUND_LEASES_H_

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "absl/functional/function_ref.h"
#include "core/ids.h"

namespace banyan {

class BoundLeases {
 public:
  struct Bound {
    PolicyVersion policy;
    Attempt attempt;
    friend bool operator==(const Bound&, const Bound&) = default;
  };
  struct Lease {
    Round last;
    Bound bound;
    Term term;  // of the scheduler that said so
  };
  struct Conflict {
    Round round;
    PolicyVersion before;
  };

  // Binds the rounds. Returns where that contradicts what was said, or done, before. `may_move` says whether rounds
  // from one on may go to this policy from an earlier one.
  std::optional<Conflict> Bind(Round first, Round last, const Bound& bound, Term term,
                               absl::FunctionRef<bool(Round)> may_move) {
    Split(first);
    Split(last.Next());
    std::optional<Conflict> conflict;
    for (auto lease = leases_.lower_bound(first); lease != leases_.end() && lease->first <= last; ++lease) {
      if (lease->second.bound == bound) continue;
      // A scheduler that leads no more may not know better; nobody listens to it who has heard of the one that does.
      if (term < lease->second.term) continue;
      const bool is_begun = used_.has_value() && lease->first <= *used_;
      const bool moves = lease->second.bound.policy < bound.policy && !is_begun && may_move(lease->first);
      if (!moves && !conflict.has_value()) conflict = Conflict{lease->first, lease->second.bound.policy};
      lease->second.bound = bound;
      lease->second.term = term;
    }
    Fill(first, last, bound, term);
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
  void Fill(Round first, Round last, const Bound& bound, Term term) {
    Round next = first;
    for (auto lease = leases_.lower_bound(first); next <= last; next = std::prev(lease)->second.last.Next()) {
      if (lease != leases_.end() && lease->first == next) {
        ++lease;
        continue;
      }
      const bool is_last = lease == leases_.end() || lease->first > last;
      const Round end = is_last ? last : Round(lease->first.value() - 1);
      lease = std::next(leases_.emplace_hint(lease, next, Lease{end, bound, term}));
    }
  }

  std::map<Round, Lease> leases_;  // by first round
  std::optional<Round> used_;      // the last one that a chunk was sent of
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_BOUND_LEASES_H_
