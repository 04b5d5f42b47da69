#include "awareness/link_meter.h"

#include <algorithm>

namespace banyan {
namespace {

// Fewer may all be low.
constexpr size_t kLeastSamples = 3;

// No link that carries a job is outside of these.
constexpr double kLeastRateBps = 1e3;
constexpr double kMostRateBps = 1e13;

}  // namespace

LinkMeter::LinkMeter(Settings settings)
    : settings_(settings),
      one_way_rate_(settings.probe_chunk_bytes, settings.probe_chunks),
      delivery_rate_(settings.probe_chunk_bytes, settings.probe_chunks) {}

void LinkMeter::Configure(Settings settings) {
  if (settings == settings_) return;
  settings_ = settings;
  one_way_rate_ = OneWayDelayEstimator(settings.probe_chunk_bytes, settings.probe_chunks);
  one_way_rate_at_.reset();
  delivery_rate_ = DeliveryRateEstimator(settings.probe_chunk_bytes, settings.probe_chunks);
}

void LinkMeter::NoteStart(const AckedChunk& chunk, Timestamp now) {
  if (!is_starting_) return;
  if (!started_at_.has_value() && chunk.size_bytes > 0) started_at_ = now;
  if (!started_at_.has_value() || now - *started_at_ < kStart) return;
  is_starting_ = false;
  delivery_rate_.ForgetRate();
}

void LinkMeter::OnAck(const AckedChunk& chunk, Timestamp now) {
  NoteStart(chunk, now);
  source_ = chunk.is_auxiliary ? LinkMeasurement::Source::kAuxiliary : LinkMeasurement::Source::kPrimary;
  delivery_rate_.Add({chunk.size_bytes, chunk.sent_at, now, chunk.received_at}, round_trip_.least());
  AddOneWay(chunk.size_bytes, chunk.sent_at, chunk.received_at, now);
}

void LinkMeter::OnHeartbeat(const PeerHeartbeat& heartbeat, Timestamp now) {
  if (!heartbeat.echo.has_value()) return;
  const ClockOffset::Exchange exchange{heartbeat.echo->sent_at, heartbeat.echo->received_at, heartbeat.sent_at, now};
  if (!clock_.Add(exchange)) return;
  const absl::Duration held = exchange.reply_sent - exchange.request_received;
  round_trip_.Add(now, exchange.reply_received - exchange.request_sent - held);
  delay_.AddBack(now, now - heartbeat.sent_at);
  AddOneWay(0, exchange.request_sent, exchange.request_received, now);
}

void LinkMeter::AddOneWay(int64_t size_bytes, Timestamp sent_at, Timestamp received_at, Timestamp now) {
  if (size_bytes <= kSmallBytes) delay_.AddThere(now, received_at - sent_at);
  const std::optional<ClockOffset::Estimate> clock = clock_.At(now);
  if (!clock.has_value()) return;
  const absl::Duration one_way = received_at - sent_at - clock->offset;
  // Below the uncertainty it may be anything.
  if (one_way > clock->uncertainty && one_way_rate_.Add(size_bytes, one_way)) one_way_rate_at_ = now;
}

std::optional<LinkMeter::Rate> LinkMeter::DecidingRate(Timestamp now) const {
  if (settings_.estimator == RateEstimator::kOneWayDelay) {
    if (!one_way_rate_at_.has_value()) return std::nullopt;
    return Rate{one_way_rate_.rate_bps(), true, *one_way_rate_at_};
  }
  const std::optional<DeliveryRateEstimator::Estimate> rate = delivery_rate_.At(now);
  if (!rate.has_value()) return std::nullopt;
  return Rate{rate->rate_bps, rate->is_backlogged && !is_starting_, rate->at};
}

std::optional<LinkMeasurement> LinkMeter::Measure(Timestamp now) const {
  const std::optional<Rate> rate = DecidingRate(now);
  const std::optional<ClockOffset::Estimate> clock = clock_.At(now);
  if (!rate.has_value() || !clock.has_value()) return std::nullopt;
  LinkMeasurement measurement;
  measurement.source = source_;
  measurement.rate_bps = std::clamp(rate->rate_bps, kLeastRateBps, kMostRateBps);
  measurement.one_way_delay_rate_bps = std::min(one_way_rate_.rate_bps(), kMostRateBps);
  measurement.is_backlogged = rate->is_backlogged;
  const absl::Duration delay = std::min(delay_.least().value_or(*round_trip_.least() / 2), *round_trip_.least());
  measurement.delay = absl::Trunc(delay, absl::Nanoseconds(1));  // as it travels
  measurement.age = now - rate->at;
  measurement.clock_offset = clock->offset;
  measurement.clock_uncertainty = clock->uncertainty;
  return measurement;
}

std::optional<double> LinkMeter::FastestBps(Timestamp now) const {
  if (settings_.estimator == RateEstimator::kOneWayDelay) {
    return one_way_rate_at_.has_value() ? std::optional(one_way_rate_.rate_bps()) : std::nullopt;
  }
  if (is_starting_) return std::nullopt;
  const std::optional<DeliveryRateEstimator::Estimate> rate = delivery_rate_.At(now);
  if (!rate.has_value() || !rate->is_backlogged || rate->samples < kLeastSamples) return std::nullopt;
  return rate->fastest_bps;
}

std::optional<LinkMeter::Sample> LinkMeter::NewestSample(Timestamp now) const {
  if (settings_.estimator == RateEstimator::kOneWayDelay) return std::nullopt;
  const std::optional<DeliveryRateEstimator::Estimate> rate = delivery_rate_.At(now);
  if (!rate.has_value() || !rate->is_backlogged) return std::nullopt;
  return Sample{rate->newest_bps, rate->at};
}

}  // namespace banyan
