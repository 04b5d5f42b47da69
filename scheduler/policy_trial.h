// Whether a new policy keeps its promise. Predictions rest on measurements, and a link may be measured as slow that is
// not; what rounds take cannot be argued with. So a policy that takes the place of another is on trial: when its rounds
// are slower than the other's were, and the links as they are now do not explain it, the other one comes back, and what
// only measurements promise is not believed for a while. Time is handed in. Thread-compatible; owned by the core.
#ifndef BANYAN_SCHEDULER_POLICY_TRIAL_H_
#define BANYAN_SCHEDULER_POLICY_TRIAL_H_

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
  // Rounds are slower than others when each is and their median is by this part: more than rounds differ by themselves.
  static constexpr double kSlower = 0.1;
  // A trial ends after so many rounds, and not before a link that has changed meanwhile is known to have.
  static constexpr size_t kRounds = 4;
  static constexpr absl::Duration kLeastTime = absl::Seconds(10);
  // No other policy is made before, unless this many times what a round took are over, or kLeastTime if longer.
  static constexpr double kPatience = 12;
  // Measurements are not believed for the first of these, and for twice as long each time, up to the second.
  static constexpr absl::Duration kFirstHold = absl::Minutes(10);
  static constexpr absl::Duration kLongestHold = absl::Hours(2);
  // Unless a link is faster by this factor than it was ever thought to be.
  static constexpr double kMaterialFactor = 2;

  // `former` gives way to a policy made for `view`, where its rounds were predicted to take `predicted`, above 0; they
  // took `took`. While a trial lasts, the policy before all that are on trial is the one to go back to.
  void Begin(Policy former, NetworkView view, absl::Duration predicted, absl::Duration took);
  // The model or the overlay is another one: nothing of the past counts.
  void Forget();

  // Whether the rounds of the policy in use, which has governed all rounds for so long, are slower than the former's
  // were. When they are not, and there are enough of them, the trial is over.
  bool LooksSlower(absl::Span<const absl::Duration> rounds, absl::Duration governed_for);
  // The one to go back to; empty when there is no trial.
  const std::optional<Policy>& former() const { return former_; }
  // What its rounds took.
  absl::Duration took() const { return took_; }

  // Ends the trial of a policy that looks slower, when a round of the former one is predicted to take `predicted` on
  // the links as they are now, `view`. True when it must come back, and all plans are held from now on. REQUIRES: there
  // is a trial, and a round.
  bool End(Timestamp now, absl::Span<const absl::Duration> rounds, absl::Duration predicted, NetworkView view);

  // Why plans made for `view` are not to be believed now; empty when they are. During a trial, `rounds` and
  // `governed_for` as above; and after a policy came back, until its rounds are slower than they were, a link has
  // become much faster, or the time is over.
  absl::string_view WhyHeld(Timestamp now, absl::Span<const absl::Duration> rounds, absl::Duration governed_for,
                            const NetworkView& view);

  // How many policies have been taken back.
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

#endif  // BANYAN_SCHEDULER_POLICY_TRIAL_H_
