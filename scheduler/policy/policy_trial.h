// Tests whether a new policy keeps its promise. A policy that takes the place of another is on trial. If its rounds are
// slower than those of the other were, and the links of today do not explain that, the other one comes back. Time is
// handed in. Thread-compatible; owned by Replanner.
//
// Why: predictions rest on measurements, and a good link may be measured as slow. What rounds take is certain.
//
// Invariants:
// - While trials follow each other without a verdict, the policy before the first of them is the one to go back to.
// - During a trial no other policy is adopted (WhyHeld), or no trial would ever end.
// - After a policy came back, promises that rest on measurements alone are not believed for a while (WhyHeld). Each
//   time that while is twice as long.
#ifndef BANYAN_SCHEDULER_POLICY_POLICY_TRIAL_H_
#define BANYAN_SCHEDULER_POLICY_POLICY_TRIAL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/time.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

class PolicyTrial {
 public:
  // Rounds are slower if each of them is slower than the others' time, and their median by more than this part. Rounds
  // of one policy differ by less.
  static constexpr double kSlower = 0.1;
  // A verdict needs this many rounds and at least this time: a link that has changed meanwhile is known to have by
  // then.
  static constexpr size_t kRounds = 4;
  static constexpr absl::Duration kLeastTime = absl::Seconds(10);
  // A trial without a verdict holds other policies back for this many round times, and for kLeastTime at least.
  static constexpr double kPatience = 12;
  // After a policy came back, plans are held for kFirstHold, then for twice as long each time, up to kLongestHold.
  static constexpr absl::Duration kFirstHold = absl::Minutes(10);
  static constexpr absl::Duration kLongestHold = absl::Hours(2);
  // A link that is this many times as fast as it was ever known to be ends the hold.
  static constexpr double kMaterialFactor = 2;

  // Begins the trial of a policy made for `view` that takes the place of `former`. Rounds of `former` were predicted to
  // take `predicted` on that view, above 0, and took `took`. Without effect while a trial lasts.
  void Begin(Policy former, NetworkView view, absl::Duration predicted, absl::Duration took);
  // Forgets trials and holds: the model or the overlay is another one.
  void Forget();

  // Returns whether `rounds` of the policy in use, which has governed all rounds for `governed_for`, are slower than
  // the former's were. If there are enough rounds and they are not slower, the trial is over.
  bool LooksSlower(absl::Span<const absl::Duration> rounds, absl::Duration governed_for);
  // Returns the policy to go back to; empty when there is no trial.
  const std::optional<Policy>& former() const { return former_; }
  // Returns how long its rounds took.
  absl::Duration took() const { return took_; }

  // Ends the trial of a policy that looks slower. A round of the former one is predicted to take `predicted` on `view`,
  // today's links. True if the former one must come back; then plans are held from now on. False if the links explain
  // the slower rounds. REQUIRES: there is a trial, and a round.
  bool End(Timestamp now, absl::Span<const absl::Duration> rounds, absl::Duration predicted, NetworkView view);

  // Returns why a plan made for `view` must not be adopted now; empty when it may. Plans are held during a trial, with
  // `rounds` and `governed_for` as in LooksSlower. They are held also after a policy came back, until its rounds become
  // slower than they were, a link has become much faster, or the hold is over.
  absl::string_view WhyHeld(Timestamp now, absl::Span<const absl::Duration> rounds, absl::Duration governed_for,
                            const NetworkView& view);

  // Returns how many policies have been taken back.
  uint64_t taken_back() const { return taken_back_; }

  static absl::Duration Median(absl::Span<const absl::Duration> rounds);

 private:
  static bool AreSlower(absl::Span<const absl::Duration> rounds, absl::Duration than);
  bool HasMuchFasterLink(const NetworkView& view) const;

  std::optional<Policy> former_;
  NetworkView tried_on_;
  absl::Duration predicted_;
  absl::Duration took_;
  Timestamp held_until_;
  absl::Duration hold_ = kFirstHold;  // the next one
  NetworkView refused_on_;
  uint64_t taken_back_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_POLICY_TRIAL_H_
