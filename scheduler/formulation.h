// Policy formulation (NETSTORM, section VIII-B): when the scheduler plans again, and whether what the planner finds is
// worth a change. Time is handed in. Thread-compatible; owned by the core.
#ifndef BANYAN_SCHEDULER_FORMULATION_H_
#define BANYAN_SCHEDULER_FORMULATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "scheduler/link_table.h"
#include "scheduler/round_times.h"
#include "topology/network_view.h"
#include "topology/overlay_config.h"
#include "topology/policy.h"

namespace banyan {

// A new policy must promise this much more than the current one, both judged on what is known now.
inline constexpr double kLeastGain = 0.1;
// Twice as much when it follows another policy after kSecondThoughts and more when earlier, up to kMostGain: what was
// measured since may be noise, and a plan that loads all links fully suffers from all of it.
inline constexpr absl::Duration kSecondThoughts = absl::Minutes(3);
inline constexpr double kMostGain = 0.5;
// But links that changed together with those that a policy was made for are no noise when they are found within this
// time of it: so much is enough then.
inline constexpr absl::Duration kFoundLate = absl::Seconds(30);
inline constexpr double kLeastGainOfLate = 0.15;
// Detours alone change when those of the new policy carry this much more together: they are ranked by every sender for
// itself, so little is lost while the order is not the best one.
inline constexpr double kLeastDetourGain = 0.25;
// Less of an edge's traffic on a detour makes no difference when the detour's rate is not what the nodes were told.
inline constexpr double kLeastDetourShare = 0.05;
// Nodes are told the rates of their paths with a policy and cannot see beyond their own links. When one has changed by
// this factor they are told again.
inline constexpr double kStaleRateFactor = 2;
// Between two plannings because of a change: the reports of one heartbeat come within such a time.
inline constexpr absl::Duration kLeastReplanPause = absl::Milliseconds(500);

// What a plan for a model whose size has just become known must promise: nothing of that is noise.
inline constexpr double kLeastGainForModel = 0.01;

// When links change together, they are all known to have within about this time of each other.
inline constexpr absl::Duration kSettlingTime = absl::Seconds(5);
// Of update_seconds: a network that never settles gets its plans so much later.
inline constexpr double kLongestPostponement = 2;

class Formulation {
 public:
  struct Reason {
    std::string why;
    double least_gain = kLeastGain;  // for Judge
  };

  // REQUIRES: topology.update_interval is above 0.
  Formulation(const TopologyConfig& topology, const AwarenessConfig& awareness);

  // Why to plan now: the model's size has become known, or update_seconds have passed since the last look and a link
  // has changed at all, or a link has changed beyond update_rate. Empty when there is no reason. A look that finds
  // nothing starts the next interval. One that finds a link which has changed within kSettlingTime is postponed: others
  // may be found to have changed too, and one plan for all is better than one after the other. So is one that finds no
  // round which began after the change, when rounds are short enough to wait for one: it tells whether the links are as
  // slow as they seem.
  std::optional<Reason> LookForReason(Timestamp now, const LinkTable& links, const RoundTimes& rounds);
  // A plan has been started for whatever reason.
  void NotePlanned(Timestamp now);
  // A new policy is in use.
  void NoteAdopted(Timestamp now) { adopted_at_ = now; }
  // The model has more tensors now. They come one after the other, so the look waits until no more do.
  void NoteModel(Timestamp now);
  // When to look again even if no report comes; kNever without awareness once the model is known.
  Timestamp NextLook() const;

 private:
  void StartInterval(Timestamp now);
  double LeastGain(Timestamp now, const LinkTable& links) const;
  // How long to wait at least before a plan follows the last change of a link; 0 when it may.
  absl::Duration PauseForChange(Timestamp now, const LinkTable& links, const RoundTimes& rounds) const;

  bool is_enabled_;
  absl::Duration interval_;
  double update_rate_;
  Timestamp interval_end_;
  Timestamp next_look_;
  Timestamp last_plan_;
  Timestamp model_due_ = kNever;
  std::optional<Timestamp> adopted_at_;
};

// What to do with a policy that was made for `view`.
struct Verdict {
  enum class Kind : uint8_t {
    kKeep,     // the current policy stays
    kAdopt,    // the new one takes its place
    kRefresh,  // the current one is published again, with today's rates
  };
  Kind kind = Kind::kKeep;
  std::string why;
};

// Both policies are valued on `view` (ValueOn in topology/policy_value.h); `published` is the view that the current one
// was published with. Pure function.
Verdict Judge(const Policy& current, const NetworkView& published, const Policy& candidate, const NetworkView& view,
              double least_gain = kLeastGain);

// The slowest link of these hops; 0 for a path without a link.
double PathRateBps(const std::vector<NodeId>& path, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_FORMULATION_H_
