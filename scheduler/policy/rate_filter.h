// Estimates a link's rate from noisy samples: a mean that follows slowly, until the samples show together that the link
// has another rate. Thread-compatible; owned by LinkTable.
//
// Why: a plan that loads many links fully suffers from the worst of their measurements, so noise must be averaged away.
// A change must not be. Page's cumulative sum test (Biometrika 41, 1954) tells one from the other:
// 1. A deviation is the difference of the logarithms of sample and mean, so that a doubling is as far as a halving.
// 2. What deviations exceed kSlack times the usual one by is summed up, for each side by itself.
// 3. When a sum exceeds kAlarm times the usual deviation, the link has changed. Its rate is the mean of the samples
// since
//    that sum was last 0.
//
// With noise of 10 % a link that doubles is found within three samples, and one that changes by half within four. With
// noise of 1 % a change by a third is found at once.
#ifndef BANYAN_SCHEDULER_POLICY_RATE_FILTER_H_
#define BANYAN_SCHEDULER_POLICY_RATE_FILTER_H_

#include "absl/time/time.h"

namespace banyan {

class RateFilter {
 public:
  // Both are factors of the usual deviation.
  static constexpr double kSlack = 1;
  static constexpr double kAlarm = 5;
  // The usual deviation is learned. It begins with kFirstDeviation and is never less than kLeastDeviation.
  static constexpr double kFirstDeviation = 0.1;
  static constexpr double kLeastDeviation = 0.02;
  // The newest sample weighs 1 / kMostSamples in the mean, and more while there are fewer since the last change.
  static constexpr int kMostSamples = 30;
  // After this time without a sample the mean counts half, and half the sum is enough for a change.
  static constexpr absl::Duration kHalfLife = absl::Seconds(10);

  // `believed_bps`, above 0, counts like one sample.
  explicit RateFilter(double believed_bps) : rate_bps_(believed_bps) {}

  // Takes a sample, above 0, that comes `since_last` after the last one. The longer that is, the less the mean counts,
  // and the likelier a change. True when the link has changed.
  bool Add(double sample_bps, absl::Duration since_last);
  // Takes a sample that the link may exceed: it never lowers the rate. Otherwise like Add.
  bool AddLowerBound(double sample_bps, absl::Duration since_last);

  double rate_bps() const { return rate_bps_; }

 private:
  // The deviations of one side since there were none to sum up, and the mean of their samples, which count by how far
  // they deviate: the first may be from before the change.
  struct Sum {
    double deviations = 0;
    double mean_bps = 0;
    double weight = 0;
    int count = 0;

    void Add(double deviation, double sample_bps);
  };

  // Takes the mean of the sum's samples when it is large enough.
  bool TakeChange(const Sum& sum, double alarm);
  void LearnDeviation(double deviation);

  double rate_bps_;
  double deviation_ = kFirstDeviation;
  double samples_ = 1;
  Sum above_;
  Sum below_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_RATE_FILTER_H_
