#include "scheduler/policy/rate_filter.h"

#include <algorithm>
#include <cmath>

namespace banyan {
namespace {

constexpr double kWeightOfDeviation = 0.1;
// A change is no noise, so it counts for no more than so many usual deviations before it is known to be one.
constexpr double kMostDeviations = 2;

// Below 1 and above 0.
double TrustAfter(absl::Duration since_last) { return 1 / (1 + absl::FDivDuration(since_last, RateFilter::kHalfLife)); }

}  // namespace

void RateFilter::Sum::Add(double deviation, double sample_bps) {
  deviations += deviation;
  if (deviations <= 0) {
    *this = Sum();
    return;
  }
  ++count;
  if (deviation <= 0) return;
  weight += deviation;
  mean_bps += (sample_bps - mean_bps) * deviation / weight;
}

bool RateFilter::Add(double sample_bps, absl::Duration since_last) {
  const double deviation = std::log(sample_bps / rate_bps_);
  const double slack = kSlack * deviation_;
  above_.Add(deviation - slack, sample_bps);
  below_.Add(-deviation - slack, sample_bps);
  const double trust = TrustAfter(since_last);
  if (TakeChange(above_, trust * kAlarm) || TakeChange(below_, trust * kAlarm)) return true;
  LearnDeviation(deviation);
  samples_ = std::min<double>(trust * samples_ + 1, kMostSamples);
  rate_bps_ += (sample_bps - rate_bps_) / samples_;
  return false;
}

bool RateFilter::AddLowerBound(double sample_bps, absl::Duration since_last) {
  above_.Add(std::log(sample_bps / rate_bps_) - kSlack * deviation_, sample_bps);
  return TakeChange(above_, TrustAfter(since_last) * kAlarm);
}

bool RateFilter::TakeChange(const Sum& sum, double alarm) {
  if (sum.deviations <= alarm * deviation_) return false;
  rate_bps_ = sum.mean_bps;
  samples_ = std::min<double>(sum.count, kMostSamples);
  above_ = Sum();
  below_ = Sum();
  return true;
}

void RateFilter::LearnDeviation(double deviation) {
  const double most = kMostDeviations * deviation_;
  const double square = std::min(deviation * deviation, most * most);
  deviation_ = std::max(kLeastDeviation,
                        std::sqrt(deviation_ * deviation_ + kWeightOfDeviation * (square - deviation_ * deviation_)));
}

}  // namespace banyan
