// Decides whether plans take links for going by way of others (topology/inference/shared_ways.h). Thread-compatible;
// owned by Replanner.
//
// Why: delays alone find such ways in networks that have none. So they are looked for only where rounds take longer
// than promised although links are known by now, and given up for good where that makes them slower.
//
// Invariants:
// - What was refuted is not suspected again until Forget.
#ifndef BANYAN_SCHEDULER_POLICY_HIDDEN_WAYS_H_
#define BANYAN_SCHEDULER_POLICY_HIDDEN_WAYS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace banyan {

class HiddenWays {
 public:
  // The first rounds find out what links carry, and take long for that. So do later ones that are faster than all
  // before by this factor.
  static constexpr uint64_t kFirstJudged = 3;
  static constexpr double kStillFaster = 0.95;
  // Rounds take so many times as long as promised, one after the other, when links share what nobody knows of.
  static constexpr double kBrokenPromise = 1.2;
  static constexpr uint64_t kBrokenRounds = 2;
  // Plans that know of ways have so many rounds to become adopted. Most of so many after these must be about as fast as
  // the fastest without: to give up what is true costs more than to keep what changes nothing.
  static constexpr uint64_t kUnjudged = 3;
  static constexpr uint64_t kTried = 5;
  static constexpr double kAsFast = 1.05;

  // Notes that a round took `took` where `promised` was promised (0: nothing was). Numbers `ended` ascend; one that
  // came before says nothing new.
  void OnRound(uint64_t ended, absl::Duration took, absl::Duration promised);
  // Starts anew: another overlay.
  void Forget() { *this = HiddenWays(); }

  // Returns whether plans take links for going by way of others.
  bool are_suspected() const { return suspected_at_ > 0 && !is_refuted_; }

 private:
  uint64_t ended_ = 0;         // the last one's number
  uint64_t rounds_ = 0;        // that were noted
  uint64_t broken_ = 0;        // promises, one after the other
  uint64_t suspected_at_ = 0;  // of rounds_; 0: never
  bool is_refuted_ = false;
  absl::Duration fastest_without_ = absl::InfiniteDuration();
  uint64_t slower_ = 0;  // of the rounds that were tried
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_HIDDEN_WAYS_H_
