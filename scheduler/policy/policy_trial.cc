#include "scheduler/policy/policy_trial.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace banyan {

void PolicyTrial::Begin(Policy former, NetworkView view, absl::Duration predicted, absl::Duration took) {
  if (former_.has_value()) return;
  former_ = std::move(former);
  tried_on_ = std::move(view);
  predicted_ = predicted;
  took_ = took;
}

void PolicyTrial::Forget() {
  former_.reset();
  held_until_ = Timestamp();
  hold_ = kFirstHold;
}

bool PolicyTrial::LooksSlower(absl::Span<const absl::Duration> rounds, absl::Duration governed_for) {
  if (!former_.has_value() || rounds.size() < kRounds || governed_for < kLeastTime) return false;
  if (AreSlower(rounds, took_)) return true;
  former_.reset();
  return false;
}

bool PolicyTrial::End(Timestamp now, absl::Span<const absl::Duration> rounds, absl::Duration predicted,
                      NetworkView view) {
  BANYAN_CHECK(former_.has_value());
  former_.reset();
  if (predicted == absl::InfiniteDuration()) return false;
  if (!AreSlower(rounds, took_ * std::max(1.0, absl::FDivDuration(predicted, predicted_)))) return false;
  ++taken_back_;
  refused_on_ = std::move(view);
  held_until_ = now + hold_;
  hold_ = std::min(2 * hold_, kLongestHold);
  return true;
}

absl::string_view PolicyTrial::WhyHeld(Timestamp now, absl::Span<const absl::Duration> rounds,
                                       absl::Duration governed_for, const NetworkView& view) {
  if (former_.has_value() && governed_for < std::max(kLeastTime, kPatience * took_)) {
    return "the policy in use is on trial";
  }
  const bool is_slower = rounds.size() >= kRounds && AreSlower(rounds.last(kRounds), took_);
  if (now < held_until_ && (is_slower || HasMuchFasterLink(view))) held_until_ = Timestamp();
  return now < held_until_ ? "a policy that promised as much was taken back" : "";
}

bool PolicyTrial::AreSlower(absl::Span<const absl::Duration> rounds, absl::Duration than) {
  return *std::min_element(rounds.begin(), rounds.end()) > than && Median(rounds) > (1 + kSlower) * than;
}

absl::Duration PolicyTrial::Median(absl::Span<const absl::Duration> rounds) {
  std::vector<absl::Duration> sorted(rounds.begin(), rounds.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

bool PolicyTrial::HasMuchFasterLink(const NetworkView& view) const {
  return std::any_of(view.links().begin(), view.links().end(), [&](const NetworkLink& link) {
    double known_bps = 0;
    for (const NetworkView* earlier : {&tried_on_, &refused_on_}) {
      const NetworkLink* was = earlier->FindLink(link.from, link.to);
      if (was != nullptr) known_bps = std::max(known_bps, was->throughput_bps);
    }
    return link.throughput_bps > kMaterialFactor * known_bps;
  });
}

}  // namespace banyan
