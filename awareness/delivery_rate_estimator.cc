#include "awareness/delivery_rate_estimator.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace banyan {
namespace {

constexpr absl::Duration kSpanOfAnyCount = absl::Seconds(1);
// Gaps that no other has followed for this long make a sample of their own, if they span enough.
constexpr absl::Duration kPartialWaits = absl::Seconds(2);
constexpr absl::Duration kLeastSpanOfPartial = absl::Milliseconds(100);
constexpr size_t kMostRateSamples = 5;
// More chunks than several connections of a link bring out of order.
constexpr size_t kMostRecent = 32;
// Those older than this, measured from the newest, count only up to the least number.
constexpr absl::Duration kSampleWindow = absl::Seconds(10);
constexpr size_t kLeastRateSamples = 3;
// A lone chunk that takes this many round trips has long left the slow start of its transport.
constexpr int kRoundTripsOfBusyChunk = 10;
// The error of the round trip may change a lone chunk's estimate by at most this factor.
constexpr int kMostCorrection = 8;
// A chunk that found the link idle and took more than so many round trips, and times what it takes to go, was held
// back: a packet that is lost costs a round trip.
constexpr double kLateRoundTrips = 1.5;
constexpr double kLate = 1.25;
// Chunks that come within this part of what the link takes for one, or of the mean, have come in a bunch.
constexpr double kBunched = 0.5;
// A lone chunk that reaches this part of the estimate confirms it.
constexpr double kConfirms = 0.95;

double RateBps(int64_t size_bytes, absl::Duration time) {
  return static_cast<double>(size_bytes) * 8 / absl::ToDoubleSeconds(time);
}

}  // namespace

void DeliveryRateEstimator::Add(const Delivery& delivery, std::optional<absl::Duration> round_trip) {
  way_back_.Add(delivery.acked_at, delivery.acked_at - delivery.received_at);
  chunk_round_trip_.Add(delivery.acked_at, delivery.acked_at - delivery.sent_at);
  if (PartialIsOver(delivery.acked_at)) TakePartial();
  const auto overtaker = std::find_if(recent_.begin(), recent_.end(), [&](const Arrival& arrival) {
    return arrival.delivery.sent_at > delivery.sent_at;
  });
  if (overtaker != recent_.end()) return AddOvertaken(delivery, overtaker->counted_in);
  if (round_trip.has_value()) round_trip = std::min(*round_trip, *chunk_round_trip_.least());
  const int64_t sample = AddInOrder(delivery, round_trip);
  const absl::Duration empty = round_trip.value_or(absl::ZeroDuration());
  recent_.push_back({delivery, sample, sample == kNoSample ? LateSince(delivery, empty) : std::nullopt});
  if (recent_.size() > kMostRecent) recent_.pop_front();
}

void DeliveryRateEstimator::ForgetRate() {
  BeginPartial();
  busy_.clear();
  alone_.clear();
}

absl::Duration DeliveryRateEstimator::Serialisation(int64_t size_bytes, absl::Duration empty) const {
  const double bits = static_cast<double>(size_bytes) * 8;
  if (!busy_.empty()) return absl::Seconds(bits / EstimateOf(busy_, true).fastest_bps);
  double most_bps = 0;
  for (const Arrival& arrival : recent_) {
    const Delivery& one = arrival.delivery;
    const absl::Duration going = one.acked_at - one.sent_at - empty;
    if (going > absl::ZeroDuration()) most_bps = std::max(most_bps, RateBps(one.size_bytes, going));
  }
  return most_bps > 0 ? absl::Seconds(bits / most_bps) : absl::InfiniteDuration();
}

Timestamp DeliveryRateEstimator::AckedWithoutWait(const Delivery& delivery) const {
  return delivery.received_at + *way_back_.least();
}

std::optional<Timestamp> DeliveryRateEstimator::LateSince(const Delivery& delivery, absl::Duration empty) const {
  const absl::Duration serialisation = Serialisation(delivery.size_bytes, empty);
  if (!recent_.empty() && recent_.back().late_since.has_value()) {
    const Timestamp since = *recent_.back().late_since;
    return delivery.received_at - since < kBunched * serialisation ? std::optional(since) : std::nullopt;
  }
  const bool is_late = AckedWithoutWait(delivery) - delivery.sent_at > kLateRoundTrips * empty + kLate * serialisation;
  return is_late ? std::optional(delivery.received_at) : std::nullopt;
}

void DeliveryRateEstimator::AddOvertaken(const Delivery& delivery, int64_t sample) {
  if (sample == kNoSample) return;
  if (sample == partial_.number) {
    partial_.size_bytes += delivery.size_bytes;
  } else if (!busy_.empty() && sample == busy_.back().number) {
    busy_.back().size_bytes += delivery.size_bytes;
  }
}

int64_t DeliveryRateEstimator::AddInOrder(const Delivery& delivery, std::optional<absl::Duration> empty) {
  if (recent_.empty() || AckedWithoutWait(recent_.back().delivery) <= delivery.sent_at) {
    AddAlone(delivery, empty.value_or(absl::ZeroDuration()));
    return kNoSample;
  }
  const Arrival& before = recent_.back();
  const absl::Duration gap = delivery.received_at - before.delivery.received_at;
  if (gap < absl::ZeroDuration()) {
    BeginPartial();
    return kNoSample;
  }
  if (!empty.has_value()) return kNoSample;
  if (delivery.sent_at + *empty > AckedWithoutWait(before.delivery) + kIdleTolerance * gap) return kNoSample;
  const bool is_held_back = before.late_since && gap < kConfirms * Serialisation(delivery.size_bytes, *empty);
  return is_held_back ? kNoSample : AddGap(delivery, gap);
}

int64_t DeliveryRateEstimator::AddGap(const Delivery& delivery, absl::Duration gap) {
  if (BelongsToLast(delivery.size_bytes, gap)) {
    busy_.back().size_bytes += delivery.size_bytes;
    busy_.back().span += gap;
    return busy_.back().number;
  }
  const int64_t sample = partial_.number;
  ++partial_.chunks;
  partial_.size_bytes += delivery.size_bytes;
  partial_.span += gap;
  partial_.at = delivery.acked_at;
  const bool is_enough = partial_.size_bytes >= probe_chunk_bytes_ && partial_.span >= kLeastSpan;
  if (is_enough && (partial_.chunks >= probe_chunks_ || partial_.span >= kSpanOfAnyCount)) TakePartial();
  return sample;
}

bool DeliveryRateEstimator::BelongsToLast(int64_t size_bytes, absl::Duration gap) const {
  const int64_t before = recent_.back().counted_in;
  if (before == kNoSample || busy_.empty() || before != busy_.back().number) return false;
  const Sample& last = busy_.back();
  return kBunched * RateBps(size_bytes, gap) > RateBps(last.size_bytes, last.span);
}

bool DeliveryRateEstimator::PartialIsOver(Timestamp now) const {
  return partial_.size_bytes >= probe_chunk_bytes_ && partial_.span >= kLeastSpanOfPartial &&
         now - partial_.at >= kPartialWaits;
}

void DeliveryRateEstimator::BeginPartial() {
  const int64_t next = partial_.number + 1;
  partial_ = {};
  partial_.number = next;
}

void DeliveryRateEstimator::TakePartial() {
  Push(busy_, {partial_.number, partial_.size_bytes, partial_.span, partial_.at});
  BeginPartial();
  // What was a lower bound before need not be one any more.
  while (!alone_.empty() && alone_.front().at <= busy_.back().at) alone_.pop_front();
}

void DeliveryRateEstimator::AddAlone(const Delivery& delivery, absl::Duration round_trip) {
  const absl::Duration took = delivery.acked_at - delivery.sent_at;
  if (delivery.size_bytes < std::max<int64_t>(1, probe_chunk_bytes_) || took <= absl::ZeroDuration()) return;
  const absl::Duration on_link = AckedWithoutWait(delivery) - delivery.sent_at - round_trip;
  const bool is_busy = round_trip > absl::ZeroDuration() && on_link >= kRoundTripsOfBusyChunk * round_trip;
  if (!is_busy) {
    const absl::Duration going = std::max(took - round_trip, took / kMostCorrection);
    return Push(alone_, {kNoSample, delivery.size_bytes, going, delivery.acked_at});
  }
  Push(busy_, {kNoSample, delivery.size_bytes, on_link, delivery.acked_at});
  alone_.clear();
}

void DeliveryRateEstimator::Push(std::deque<Sample>& samples, Sample sample) {
  ++samples_;
  samples.push_back(sample);
  if (samples.size() > kMostRateSamples) samples.pop_front();
  while (samples.size() > kLeastRateSamples && sample.at - samples.front().at > kSampleWindow) samples.pop_front();
}

DeliveryRateEstimator::Estimate DeliveryRateEstimator::EstimateOf(const std::deque<Sample>& samples,
                                                                  bool is_backlogged) {
  std::vector<double> rates;
  for (const Sample& sample : samples) rates.push_back(RateBps(sample.size_bytes, sample.span));
  const double newest_bps = rates.back();
  std::sort(rates.begin(), rates.end());
  const double median_bps = (rates[(rates.size() - 1) / 2] + rates[rates.size() / 2]) / 2;
  return {median_bps, rates.back(), newest_bps, rates.size(), is_backlogged, samples.back().at};
}

std::optional<DeliveryRateEstimator::Estimate> DeliveryRateEstimator::At(Timestamp now) const {
  if (!PartialIsOver(now)) return estimate();
  DeliveryRateEstimator then = *this;
  then.TakePartial();
  return then.estimate();
}

std::optional<DeliveryRateEstimator::Estimate> DeliveryRateEstimator::estimate() const {
  if (busy_.empty() && alone_.empty()) return std::nullopt;
  if (busy_.empty()) return EstimateOf(alone_, false);
  Estimate estimate = EstimateOf(busy_, true);
  if (alone_.empty()) return estimate;
  const Estimate at_least = EstimateOf(alone_, false);
  if (at_least.rate_bps > estimate.rate_bps) return at_least;
  if (at_least.rate_bps >= kConfirms * estimate.rate_bps) estimate.at = at_least.at;
  return estimate;
}

}  // namespace banyan
