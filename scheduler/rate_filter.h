// What a link's rate is, from samples of which each is a little off and some come after the link has changed: a mean
// that follows slowly, until the samples say together that the rate is another one. Thread-compatible; owned by
// LinkTable.
//
// A plan that loads many links fully rests on the unluckiest of their measurements, so noise must be averaged away; but
// a change must not be. Page's cumulative sum test (Biometrika 41, 1954) tells one from the other: deviations beyond
// kSlack of the usual one are summed up, for each side by itself, from the last time that there was nothing to sum up,
// and when the sum exceeds kAlarm of the usual ones, the rate is the mean of the samples since then. With noise of 10 %
// a link that doubles is seen within three samples and one that changes by half within four; with noise of 1 % a change
// by a third is seen at once. Deviations are of logarithms, so that a doubling is as far as a halving.
#ifndef BANYAN_SCHEDULER_RATE_FILTER_H_
#define BANYAN_SCHEDULER_RATE_FILTER_H_

#include "absl/time/time.h"

namespace banyan {

class RateFilter {
 public:
  // Factors of the usual deviation.
  static constexpr double kSlack = 1;
  static constexpr double kAlarm = 5;
  // The usual deviation is learned, from the first of these on; it is never taken to be less than the second.
  static constexpr double kFirstDeviation = 0.1;
  static constexpr double kLeastDeviation = 0.02;
  // The mean's weight of a sample is one part of so many, or of all since a change if these are fewer.
  static constexpr int kMostSamples = 30;
  // After such a time without a sample what is known counts half, and half the sum is enough for a change.
  static constexpr absl::Duration kHalfLife = absl::Seconds(10);

  // `believed_bps`, above 0, counts like one sample.
  explicit RateFilter(double believed_bps) : rate_bps_(believed_bps) {}

  // A sample, above 0, so long after the last one; what is known counts less and changes are more likely the longer
  // that is. True when the link has changed.
  bool Add(double sample_bps, absl::Duration since_last);
  // Likewise; the link has this rate or a higher one.
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

#endif  // BANYAN_SCHEDULER_RATE_FILTER_H_
