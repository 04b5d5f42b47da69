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
constexpr size_t kMostSamples = 5;
// More chunks than several connections of a link bring out of order.
constexpr size_t kMostRecent = 32;
// Those older than this, measured from the newest, count only up to the least number.
constexpr absl::Duration kSampleWindow = absl::Seconds(10);
constexpr size_t kLeastSamples = 3;
// A lone chunk that takes this many round trips has long left the slow start of its transport.
constexpr int kRoundTripsOfBusyChunk = 10;
// The error of the round trip may change a lone chunk's estimate by at most this factor.
constexpr int kMostCorrection = 8;
// A chunk that found the link idle and still took so much longer than the least was held back.
constexpr double kLate = 1.25;
// A lone chunk that reaches this part of the estimate confirms it.
constexpr double kConfirms = 0.95;

double RateBps(int64_t size_bytes, absl::Duration time) {
  return static_cast<double>(size_bytes) * 8 / absl::ToDoubleSeconds(time);
}

}  // namespace

void DeliveryRateEstimator::Add(const Delivery& delivery, std::optional<absl::Duration> round_trip) {
  const absl::Duration took = delivery.acked_at - delivery.sent_at;
  chunk_round_trip_.Add(delivery.acked_at, took);
  if (PartialIsOver(delivery.acked_at)) TakePartial();
  const auto overtaker = std::find_if(recent_.begin(), recent_.end(), [&](const Arrival& arrival) {
    return arrival.delivery.sent_at > delivery.sent_at;
  });
  if (overtaker != recent_.end()) return AddOvertaken(delivery, overtaker->counted_in);
  const int64_t sample = partial_.number;
  const bool follows_late_one = !recent_.empty() && recent_.back().is_late;
  const bool has_counted = AddInOrder(delivery, round_trip);
  const bool is_late = !has_counted && !follows_late_one && took > kLate * *chunk_round_trip_.least();
  recent_.push_back({delivery, has_counted ? sample : kNoSample, is_late});
  if (recent_.size() > kMostRecent) recent_.pop_front();
}

void DeliveryRateEstimator::AddOvertaken(const Delivery& delivery, int64_t sample) {
  if (sample == kNoSample) return;
  if (sample == partial_.number) {
    partial_.size_bytes += delivery.size_bytes;
  } else if (!busy_.empty() && sample == busy_.back().number) {
    busy_.back().size_bytes += delivery.size_bytes;
  }
}

bool DeliveryRateEstimator::AddInOrder(const Delivery& delivery, std::optional<absl::Duration> round_trip) {
  if (recent_.empty() || recent_.back().delivery.acked_at <= delivery.sent_at) {
    AddAlone(delivery, std::min(delivery.acked_at - delivery.sent_at, round_trip.value_or(absl::ZeroDuration())));
    return false;
  }
  const Arrival& before = recent_.back();
  const absl::Duration gap = delivery.received_at - before.delivery.received_at;
  if (gap < absl::ZeroDuration()) {
    BeginPartial();
    return false;
  }
  const absl::Duration least = *chunk_round_trip_.least();
  const absl::Duration empty = std::min(least, round_trip.value_or(least));
  if (delivery.sent_at + empty > before.delivery.acked_at + kIdleTolerance * gap) return false;
  if (before.is_late) return false;
  AddGap(delivery, gap);
  return true;
}

void DeliveryRateEstimator::AddGap(const Delivery& delivery, absl::Duration gap) {
  ++partial_.chunks;
  partial_.size_bytes += delivery.size_bytes;
  partial_.span += gap;
  partial_.at = delivery.acked_at;
  if (partial_.size_bytes < probe_chunk_bytes_ || partial_.span < kLeastSpan) return;
  if (partial_.chunks >= probe_chunks_ || partial_.span >= kSpanOfAnyCount) TakePartial();
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
  const absl::Duration going = std::max(took - round_trip, took / kMostCorrection);
  const bool is_busy = round_trip > absl::ZeroDuration() && going >= kRoundTripsOfBusyChunk * round_trip;
  const Sample sample{kNoSample, delivery.size_bytes, going, delivery.acked_at};
  if (!is_busy) return Push(alone_, sample);
  Push(busy_, sample);
  alone_.clear();
}

void DeliveryRateEstimator::Push(std::deque<Sample>& samples, Sample sample) {
  samples.push_back(sample);
  if (samples.size() > kMostSamples) samples.pop_front();
  while (samples.size() > kLeastSamples && sample.at - samples.front().at > kSampleWindow) samples.pop_front();
}

DeliveryRateEstimator::Estimate DeliveryRateEstimator::EstimateOf(const std::deque<Sample>& samples,
                                                                  bool is_backlogged) {
  std::vector<double> rates;
  for (const Sample& sample : samples) rates.push_back(RateBps(sample.size_bytes, sample.span));
  std::sort(rates.begin(), rates.end());
  const double median_bps = (rates[(rates.size() - 1) / 2] + rates[rates.size() / 2]) / 2;
  return {median_bps, rates.back(), rates.size(), is_backlogged, samples.back().at};
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
