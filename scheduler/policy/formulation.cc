#include "scheduler/policy/formulation.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace banyan {
namespace {

double SumOfPathsBps(const Policy& policy, const NetworkView& view) {
  double sum_bps = 0;
  for (const Route& auxiliary_path : policy.auxiliary) sum_bps += PathRateBps(auxiliary_path.path, view);
  return sum_bps;
}

bool IsStale(const Route& route, const NetworkView& published, const NetworkView& view) {
  const auto [low, high] = std::minmax({PathRateBps(route.path, published), PathRateBps(route.path, view)});
  return high > kStaleRateFactor * low;
}

// The rate of an auxiliary path matters little if it has no part in the plan.
bool IsStale(const Policy& policy, const NetworkView& published, const NetworkView& view) {
  const auto is_stale = [&](const Route& route) { return IsStale(route, published, view); };
  return std::any_of(policy.routes.begin(), policy.routes.end(), is_stale) ||
         std::any_of(policy.auxiliary.begin(), policy.auxiliary.end(), [&](const Route& auxiliary_path) {
           return auxiliary_path.share > kLeastAuxiliaryShare && is_stale(auxiliary_path);
         });
}

bool SameTrees(const Policy& a, const Policy& b) {
  if (a.trees.size() != b.trees.size()) return false;
  return std::equal(a.trees.begin(), a.trees.end(), b.trees.begin(), [](const Tree& left, const Tree& right) {
    return left.root == right.root && left.reduce_parent == right.reduce_parent &&
           left.broadcast_parent == right.broadcast_parent;
  });
}

bool KnowsTime(const Policy& policy) {
  return policy.round_time > absl::ZeroDuration() && policy.round_time < absl::InfiniteDuration();
}

// Returns how much faster the candidate is: 0.1 means by a tenth. Compares round times once the model's size is known,
// and rates before.
double Gain(const Policy& current, const Policy& candidate) {
  if (KnowsTime(current) && KnowsTime(candidate)) {
    return absl::FDivDuration(current.round_time, candidate.round_time) - 1;
  }
  if (current.auxiliary_rate_bps > 0) return candidate.auxiliary_rate_bps / current.auxiliary_rate_bps - 1;
  return candidate.auxiliary_rate_bps > 0 ? std::numeric_limits<double>::infinity() : 0;
}

std::string Promise(const Policy& current, const Policy& candidate) {
  if (KnowsTime(current) && KnowsTime(candidate)) {
    return absl::StrFormat("%.3g instead of %.3g s a round", absl::ToDoubleSeconds(candidate.round_time),
                           absl::ToDoubleSeconds(current.round_time));
  }
  // Not the rates themselves: those of a simulation at part of the size are too small.
  if (current.auxiliary_rate_bps <= 0) return "rates where there were none";
  return absl::StrFormat("rates %.3g times as high", candidate.auxiliary_rate_bps / current.auxiliary_rate_bps);
}

}  // namespace

Formulation::Formulation(const TopologyConfig& topology, const AwarenessConfig& awareness)
    : is_enabled_(awareness.enabled), interval_(topology.update_interval), update_rate_(topology.update_rate) {
  StartInterval(Timestamp());
}

std::optional<Formulation::Reason> Formulation::LookForReason(Timestamp now, const LinkTable& links,
                                                              const RoundTimes& rounds) {
  if (now >= better_due_) {
    better_due_ = kNever;
    return Reason{"a change of membership, for which a plan was made in haste", kLeastGainForModel};
  }
  if (now >= model_due_) {
    model_due_ = kNever;
    return Reason{"the model's size, which is known now", kLeastGainForModel};
  }
  if (!is_enabled_) return std::nullopt;
  if (HasLearned(now, links, rounds)) return Reason{"links have been found out", kLearningGain};
  // A change beyond update_rate is planned for at once. One below it is not left out, as with the UPDATE_RATE of the
  // NETSTORM paper: it is planned for at the end of the interval.
  const absl::Duration pause = std::min(kLeastReplanPause, interval_);
  if (update_rate_ > 0 && now >= last_plan_ + pause && links.ChangedBeyond(update_rate_)) {
    return Reason{absl::StrFormat("a link changed by more than %.3g%%", update_rate_ * 100), LeastGain(now, links)};
  }
  if (now < next_look_) return std::nullopt;
  if (!links.ChangedBeyond(0)) {
    StartInterval(now);
    return std::nullopt;
  }
  const Timestamp at_last = interval_end_ + kLongestPostponement * interval_;
  const absl::Duration pause_for_change = PauseForChange(now, links, rounds);
  if (pause_for_change > absl::ZeroDuration() && now < at_last) {
    next_look_ = std::min(now + pause_for_change, at_last);
    return std::nullopt;
  }
  StartInterval(now);
  return Reason{absl::StrCat("links were measured anew in the last ", absl::FormatDuration(interval_)),
                LeastGain(now, links)};
}

bool Formulation::HasLearned(Timestamp now, const LinkTable& links, const RoundTimes& rounds) {
  if (now < learning_look_ || !IsLearning(now, rounds.ended())) return false;
  learning_look_ = now + std::min(kLearningPause, interval_);
  return links.ChangedBeyond(kLearningChange);
}

absl::Duration Formulation::PauseForChange(Timestamp now, const LinkTable& links, const RoundTimes& rounds) const {
  if (!links.last_change().has_value()) return absl::ZeroDuration();
  const absl::Duration since_change = now - *links.last_change();
  if (since_change < kSettlingTime) return kSettlingTime - since_change;
  const std::optional<absl::Duration> round = rounds.Last(Timestamp());
  const bool is_short = round.has_value() && *round < kLongestPostponement * interval_;
  const bool waits_for_round = is_short && !rounds.Last(*links.last_change()).has_value();
  return waits_for_round ? kLeastReplanPause : absl::ZeroDuration();
}

double Formulation::LeastGain(Timestamp now, const LinkTable& links) const {
  if (!adopted_at_.has_value()) return kLeastGain;
  const bool has_changed_since = links.last_change().has_value() && *links.last_change() > *adopted_at_;
  if (has_changed_since && now - *adopted_at_ <= kFoundLate) return kLeastGainOfLate;
  const double part = absl::FDivDuration(now - *adopted_at_, kSecondThoughts);
  return part <= 0 ? kMostGain : std::min(kMostGain, kLeastGain * (1 + 1 / part));
}

void Formulation::StartInterval(Timestamp now) {
  interval_end_ = now + interval_;
  next_look_ = interval_end_;
}

void Formulation::NotePlanned(Timestamp now) {
  StartInterval(now);
  last_plan_ = now;
  learning_look_ = now + std::min(kLearningPause, interval_);
}

void Formulation::NoteModel(Timestamp now) { model_due_ = now + kLeastReplanPause; }

Timestamp Formulation::NextLook() const {
  return std::min({better_due_, model_due_, is_enabled_ ? next_look_ : kNever});
}

Verdict Judge(const Policy& current, const NetworkView& published, const Policy& candidate, const NetworkView& view,
              double least_gain) {
  const std::string promise = Promise(current, candidate);
  if (Gain(current, candidate) > least_gain) return {Verdict::Kind::kAdopt, promise + " are promised"};
  if (SameTrees(current, candidate) &&
      SumOfPathsBps(candidate, view) > SumOfPathsBps(current, view) * (1 + kLeastAuxiliaryGain)) {
    return {Verdict::Kind::kAdopt, "there are better auxiliary paths"};
  }
  if (IsStale(current, published, view)) {
    return {Verdict::Kind::kRefresh, "the rates of auxiliary paths or routes have changed"};
  }
  return {Verdict::Kind::kKeep, promise + " are too little for a change"};
}

double PathRateBps(const std::vector<NodeId>& path, const NetworkView& view) {
  double rate_bps = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const NetworkLink* link = view.FindLink(path[i], path[i + 1]);
    rate_bps = std::min(rate_bps, link == nullptr ? 0 : link->throughput_bps);
  }
  return path.size() < 2 ? 0 : rate_bps;
}

}  // namespace banyan
