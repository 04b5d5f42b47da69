// Policy formulation (NETSTORM, section VIII-B): finds reasons to plan again, and judges whether a new plan is worth a
// change. Time is handed in. Thread-compatible; owned by Replanner.
//
// Invariants:
// - Two plans that follow changes of links lie at least kLeastReplanPause apart, or update_seconds if that is less.
// - A change of a link is planned for within update_seconds * (1 + kLongestPostponement), unless it is taken back.
// - `update_rate` only adds plans. A change beyond it is planned for at once; smaller ones wait for the interval. This
//   differs from the UPDATE_RATE of the NETSTORM paper, below which nothing is planned.
#ifndef BANYAN_SCHEDULER_POLICY_FORMULATION_H_
#define BANYAN_SCHEDULER_POLICY_FORMULATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "scheduler/policy/link_table.h"
#include "scheduler/policy/round_times.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/policy.h"

namespace banyan {

// The least gain of a new policy over the one in use: 0.1 means a tenth faster. Both are valued on today's links.
inline constexpr double kLeastGain = 0.1;
// The least gain is twice as high this long after the last change of policy, and higher before, up to kMostGain. What
// was measured since then may be noise, and a plan that loads all links fully suffers from the noise of each.
inline constexpr absl::Duration kSecondThoughts = absl::Minutes(3);
inline constexpr double kMostGain = 0.5;
// Links that change together are not always found together. Changes found within kFoundLate of a new policy are
// therefore taken as real, and kLeastGainOfLate is enough.
inline constexpr absl::Duration kFoundLate = absl::Seconds(30);
inline constexpr double kLeastGainOfLate = 0.15;
// The least gain in the sum of the auxiliary paths' rates that justifies a policy with the same trees. It is high,
// since each sender ranks its auxiliary paths itself and loses little while their order is not the best.
inline constexpr double kLeastAuxiliaryGain = 0.25;
// An auxiliary path with a smaller share of its edge's traffic does not matter: nodes need not hear of its new rate.
inline constexpr double kLeastAuxiliaryShare = 0.05;
// Nodes learn the rates of their paths with a policy, and cannot see beyond their own links. A path whose rate has
// changed by this factor makes the scheduler publish again.
inline constexpr double kStaleRateFactor = 2;
// The shortest time between two plans that follow changes. The reports of one heartbeat arrive within it.
inline constexpr absl::Duration kLeastReplanPause = absl::Milliseconds(500);

// At its start a job finds out its links. It does so for kLearningTime and kLearningRounds at least. Meanwhile a link
// that has changed by kLearningChange is planned for kLearningPause after the last plan. A small gain is enough, and no
// policy is on trial: the first rounds tell little of what the links can do.
inline constexpr absl::Duration kLearningTime = absl::Seconds(20);
inline constexpr uint64_t kLearningRounds = 6;
inline constexpr absl::Duration kLearningPause = absl::Seconds(1);
inline constexpr double kLearningChange = 0.1;
inline constexpr double kLearningGain = 0.05;

// The least gain of a plan for a model whose size has just become known, or in place of one that was made in haste. It
// is low, since sizes have no noise.
inline constexpr double kLeastGainForModel = 0.01;

// Links that change together are all found to have changed within about this time.
inline constexpr absl::Duration kSettlingTime = absl::Seconds(5);
// A look is postponed by at most this many times update_seconds, even if the links never settle.
inline constexpr double kLongestPostponement = 2;

class Formulation {
 public:
  struct Reason {
    std::string why;
    double least_gain = kLeastGain;  // that the plan must promise, for Judge
  };

  // REQUIRES: topology.update_interval is above 0.
  Formulation(const TopologyConfig& topology, const AwarenessConfig& awareness);

  // Returns why to plan now, or nothing. There are five reasons:
  // 0. The policy in use was made in haste.
  // 1. The model's size has become known.
  // 2. The job is learning, and a link has changed by more than kLearningChange since the last plan.
  // 3. A link has changed by more than update_rate (if above 0) since the last plan.
  // 4. An interval of update_seconds is over and some link has changed since the last plan, however little.
  //
  // A look at the end of an interval that finds no change starts the next interval. It is postponed while a link has
  // changed within kSettlingTime: one plan for all changes is better than one after the other. It is postponed also
  // until a round has begun and ended after the change, if rounds are short: the round tells whether the links are as
  // slow as they seem.
  std::optional<Reason> LookForReason(Timestamp now, const LinkTable& links, const RoundTimes& rounds);
  // Notes that a job begins.
  void NoteBeginning(Timestamp now) { learns_since_ = now; }
  // Returns whether the job, which has had `rounds`, is still finding out its links.
  bool IsLearning(Timestamp now, uint64_t rounds) const {
    return is_enabled_ && learns_since_.has_value() &&
           (rounds < kLearningRounds || now - *learns_since_ < kLearningTime);
  }
  // Notes that a plan has been started, for whatever reason.
  void NotePlanned(Timestamp now);
  // Notes that a new policy is in use.
  void NoteAdopted(Timestamp now) { adopted_at_ = now; }
  // Notes that a policy was adopted that was made in haste.
  void NoteHaste(Timestamp now) { better_due_ = now; }
  // Notes that the model has more tensors now. They come one after the other, so the look waits until no more come.
  void NoteModel(Timestamp now);
  // Returns when to look again even if no report comes; kNever without awareness once the model is known.
  Timestamp NextLook() const;

 private:
  void StartInterval(Timestamp now);
  // Returns whether a link has changed for which a job that is learning plans.
  bool HasLearned(Timestamp now, const LinkTable& links, const RoundTimes& rounds);
  // Returns the gain that a plan must promise now, by the time since the last change of policy.
  double LeastGain(Timestamp now, const LinkTable& links) const;
  // Returns how long a plan must still wait after the last change of a link; 0 when it may follow.
  absl::Duration PauseForChange(Timestamp now, const LinkTable& links, const RoundTimes& rounds) const;

  bool is_enabled_;
  absl::Duration interval_;
  double update_rate_;
  Timestamp interval_end_;
  Timestamp next_look_;
  Timestamp last_plan_;
  Timestamp model_due_ = kNever;
  Timestamp better_due_ = kNever;  // a plan that is not made in haste
  std::optional<Timestamp> adopted_at_;
  std::optional<Timestamp> learns_since_;
  Timestamp learning_look_;
};

// The verdict on a new policy.
struct Verdict {
  enum class Kind : uint8_t {
    kKeep,     // the current policy stays
    kAdopt,    // the new one takes its place
    kRefresh,  // the current one is published again, with today's rates
  };
  Kind kind = Kind::kKeep;
  std::string why;
};

// Judges whether `candidate` takes the place of `current`. Both are valued on `view`, today's links (ValueOn in
// topology/evaluation/policy_value.h); `published` is the view that the current one was published with. Pure function.
Verdict Judge(const Policy& current, const NetworkView& published, const Policy& candidate, const NetworkView& view,
              double least_gain = kLeastGain);

// Returns the rate of the slowest link of these hops; 0 for a path without a link.
double PathRateBps(const std::vector<NodeId>& path, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_FORMULATION_H_
