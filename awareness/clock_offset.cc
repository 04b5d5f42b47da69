#include "awareness/clock_offset.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace banyan {
namespace {

constexpr size_t kMostSamples = 32;
constexpr size_t kLeastForDrift = 8;
// Reading a clock and handing over a message take this much.
constexpr int64_t kSlackNs = 1'000'000;

}  // namespace

bool ClockOffset::Add(const Exchange& exchange) {
  const int64_t there_ns = exchange.request_received.nanoseconds() - exchange.request_sent.nanoseconds();
  const int64_t back_ns = exchange.reply_sent.nanoseconds() - exchange.reply_received.nanoseconds();
  const int64_t held_ns = exchange.reply_sent.nanoseconds() - exchange.request_received.nanoseconds();
  const int64_t round_trip_ns = there_ns - back_ns;
  if (held_ns < 0 || round_trip_ns < 0) return false;
  // While the peer held the message the clocks parted.
  const auto parted_ns = static_cast<int64_t>(kMostDrift * static_cast<double>(held_ns));
  const Sample sample{exchange.reply_received, back_ns + round_trip_ns / 2, round_trip_ns + 2 * parted_ns};
  if (const std::optional<Estimate> known = At(sample.at); known.has_value()) {
    const absl::Duration apart = absl::AbsDuration(absl::Nanoseconds(sample.offset_ns) - known->offset);
    if (apart > known->uncertainty + absl::Nanoseconds(sample.round_trip_ns / 2 + kSlackNs)) *this = ClockOffset();
  }
  samples_.push_back(sample);
  if (samples_.size() > kMostSamples) samples_.pop_front();
  Learn();
  return true;
}

void ClockOffset::Learn() {
  if (samples_.size() < kLeastForDrift) return;
  const auto faster = [](const Sample& a, const Sample& b) { return a.round_trip_ns < b.round_trip_ns; };
  const auto middle = samples_.begin() + static_cast<std::ptrdiff_t>(samples_.size() / 2);
  const Sample& early = *std::min_element(samples_.begin(), middle, faster);
  const Sample& late = *std::min_element(middle, samples_.end(), faster);
  const double elapsed_ns = absl::ToDoubleNanoseconds(late.at - early.at);
  if (elapsed_ns <= 0) return;
  // What the two directions always differ by cancels out; what is above the least round trip does not.
  const int64_t least_ns = std::min(early.round_trip_ns, late.round_trip_ns);
  const auto noise_ns = static_cast<double>(early.round_trip_ns + late.round_trip_ns - 2 * least_ns + kSlackNs) / 2;
  const double error = noise_ns / elapsed_ns;
  if (error >= kMostDrift) {
    drift_ = 0;
    drift_error_ = kMostDrift;
    return;
  }
  drift_ = std::clamp(static_cast<double>(late.offset_ns - early.offset_ns) / elapsed_ns, -kMostDrift, kMostDrift);
  drift_error_ = error;
}

ClockOffset::Estimate ClockOffset::Predict(const Sample& sample, Timestamp now) const {
  const double age_ns = absl::ToDoubleNanoseconds(now - sample.at);
  return {absl::Nanoseconds(sample.offset_ns + std::llround(drift_ * age_ns)),
          absl::Nanoseconds(sample.round_trip_ns / 2 + std::llround(drift_error_ * std::abs(age_ns)))};
}

std::optional<ClockOffset::Estimate> ClockOffset::At(Timestamp now) const {
  std::optional<Estimate> best;
  for (const Sample& sample : samples_) {
    const Estimate estimate = Predict(sample, now);
    if (!best.has_value() || estimate.uncertainty <= best->uncertainty) best = estimate;
  }
  return best;
}

}  // namespace banyan
