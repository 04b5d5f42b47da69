#include "wan/link_channel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/check.h"

namespace banyan {
namespace {

constexpr double kLongestRun = 1e15;

}  // namespace

LinkChannel::LinkChannel(const ChannelOptions& options)
    : rate_bps_(options.rate_bps),
      delay_ns_(absl::ToInt64Nanoseconds(options.delay)),
      loss_fraction_(options.loss_fraction),
      queue_seconds_(absl::ToDoubleSeconds(options.queue_time)),
      trim_bytes_(options.trim_bytes),
      random_(options.loss_seed) {
  BANYAN_CHECK(rate_bps_ > 0);
  SizeQueue();
  DrawNextLoss();
}

bool LinkChannel::Offer(int64_t now_ns, SegmentTrain train) {
  Serve(now_ns);
  TrimIfFull(train);
  if (train.is_trimmed) return OfferTrimmed(now_ns, train);
  DropTail(train);
  if (train.alive == 0) return false;
  if (queue_.empty()) head_sent_ns_ = now_ns + WireNs(train);
  queued_bytes_ += train.WireBytes();
  queue_.push_back(train);
  return true;
}

void LinkChannel::TrimIfFull(SegmentTrain& train) {
  if (!train.is_trimmable || train.is_trimmed || train.alive == 0) return;
  if (trim_bytes_ == 0 || train.last_bytes <= trim_bytes_) return;
  if (train.last_bytes <= queue_limit_bytes_ - queued_bytes_) return;
  train.is_trimmed = true;
  train.segment_bytes = train.last_bytes = trim_bytes_;
  ++counters_.trimmed_segments;
}

bool LinkChannel::OfferTrimmed(int64_t now_ns, const SegmentTrain& train) {
  if (train.alive == 0) return false;
  if (train.WireBytes() > kTrimmedQueueBytes - trimmed_bytes_) {
    ++counters_.dropped_segments;
    return false;
  }
  trimmed_bytes_ += train.WireBytes();
  if (queue_.empty()) {
    head_sent_ns_ = now_ns + WireNs(train);
    queue_.push_back(train);
    return true;
  }
  ++trimmed_waiting_;
  queue_.insert(queue_.begin() + static_cast<std::ptrdiff_t>(trimmed_waiting_), train);
  return true;
}

int64_t LinkChannel::NextArrivalNs() const {
  if (!in_flight_.empty()) return in_flight_.front().arrival_ns;
  return queue_.empty() ? kNeverNs : head_sent_ns_ + delay_ns_;
}

bool LinkChannel::TakeArrival(int64_t now_ns, SegmentTrain* train) {
  Serve(now_ns);
  if (in_flight_.empty() || in_flight_.front().arrival_ns > now_ns) return false;
  *train = in_flight_.front().train;
  in_flight_.pop_front();
  return true;
}

void LinkChannel::SetRate(int64_t now_ns, double rate_bps) {
  BANYAN_CHECK(rate_bps > 0);
  Serve(now_ns);
  if (!queue_.empty()) {
    const double left_ns = static_cast<double>(head_sent_ns_ - now_ns);
    head_sent_ns_ = now_ns + std::llround(left_ns * rate_bps_ / rate_bps);
  }
  rate_bps_ = rate_bps;
  SizeQueue();
}

int64_t LinkChannel::QueuedBytes(int64_t now_ns) {
  Serve(now_ns);
  return queued_bytes_ + trimmed_bytes_;
}

int64_t LinkChannel::WireNs(const SegmentTrain& train) const {
  return std::llround(static_cast<double>(train.WireBytes()) * 8e9 / rate_bps_);
}

void LinkChannel::Serve(int64_t now_ns) {
  while (!queue_.empty() && head_sent_ns_ <= now_ns) {
    SegmentTrain train = queue_.front();
    queue_.pop_front();
    if (trimmed_waiting_ > 0) --trimmed_waiting_;
    const int64_t bytes = train.WireBytes();
    (train.is_trimmed ? trimmed_bytes_ : queued_bytes_) -= bytes;
    counters_.sent_bytes += bytes;
    counters_.sent_segments += train.CountAlive();
    LoseSegments(train);
    in_flight_.push_back({head_sent_ns_ + delay_ns_, train});
    if (!queue_.empty()) head_sent_ns_ += WireNs(queue_.front());
  }
}

void LinkChannel::LoseSegments(SegmentTrain& train) {
  uint64_t still_to_pass = train.alive;
  while (segments_before_loss_ < std::popcount(still_to_pass)) {
    for (; segments_before_loss_ > 0; --segments_before_loss_) still_to_pass &= still_to_pass - 1;
    const uint64_t lost = still_to_pass & ~(still_to_pass - 1);
    still_to_pass &= ~lost;
    train.alive &= ~lost;
    ++counters_.lost_segments;
    DrawNextLoss();
  }
  segments_before_loss_ -= std::popcount(still_to_pass);
}

// How many segments pass until one is lost follows a geometric distribution.
void LinkChannel::DrawNextLoss() {
  if (loss_fraction_ <= 0) {
    segments_before_loss_ = std::numeric_limits<int64_t>::max();
    return;
  }
  const double run = std::log(1 - random_.Unit()) / std::log1p(-loss_fraction_);
  segments_before_loss_ = static_cast<int64_t>(std::min(run, kLongestRun));
}

void LinkChannel::DropTail(SegmentTrain& train) {
  int64_t room_bytes = queue_limit_bytes_ - queued_bytes_;
  if (train.WireBytes() <= room_bytes) return;
  for (int i = 0; i < train.segments; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if ((train.alive & bit) == 0) continue;
    if (train.BytesOf(i) <= room_bytes) {
      room_bytes -= train.BytesOf(i);
      continue;
    }
    room_bytes = 0;
    train.alive &= ~bit;
    ++counters_.dropped_segments;
  }
}

void LinkChannel::SizeQueue() {
  queue_limit_bytes_ = std::max(kLeastQueueBytes, static_cast<int64_t>(std::llround(rate_bps_ / 8 * queue_seconds_)));
}

}  // namespace banyan
