#include "node/state/holder_link.h"

#include <algorithm>

namespace banyan {
namespace {

// A sample of the rate takes that long at least.
constexpr absl::Duration kSample = absl::Milliseconds(50);
constexpr double kOldShare = 0.5;
// What is believed of a holder that has given nothing yet.
constexpr absl::Duration kUnknownWait = absl::Seconds(1);

}  // namespace

void HolderLink::OnAsked(Timestamp now, ChunkIndex chunk, int64_t size_bytes) {
  if (owed_.empty()) {
    heard_at_ = now;
    measured_at_ = now;
    sample_bytes_ = 0;
  }
  if (owed_.emplace(chunk, std::make_pair(now, size_bytes)).second) owed_bytes_ += size_bytes;
}

bool HolderLink::OnArrived(Timestamp now, ChunkIndex chunk) {
  heard_at_ = now;
  is_silent = false;
  const auto found = owed_.find(chunk);
  if (found == owed_.end()) return false;
  const auto [asked_at, size_bytes] = found->second;
  shortest_ = std::min(shortest_, now - asked_at);
  owed_bytes_ -= size_bytes;
  owed_.erase(found);
  Measure(now, size_bytes);
  return true;
}

void HolderLink::Measure(Timestamp now, int64_t size_bytes) {
  sample_bytes_ += size_bytes;
  const absl::Duration took = now - measured_at_;
  if (took < kSample) return;
  const double sample = static_cast<double>(sample_bytes_) / absl::ToDoubleSeconds(took);
  bytes_per_second_ = std::max(sample, kOldShare * bytes_per_second_ + (1 - kOldShare) * sample);
  measured_at_ = now;
  sample_bytes_ = 0;
}

std::vector<ChunkIndex> HolderLink::TakeOwed() {
  std::vector<ChunkIndex> owed;
  for (const auto& [chunk, since] : owed_) owed.push_back(chunk);
  owed_.clear();
  owed_bytes_ = 0;
  return owed;
}

int64_t HolderLink::TargetBytes() const {
  const absl::Duration round_trip = shortest_ == absl::InfiniteDuration() ? absl::ZeroDuration() : shortest_;
  const absl::Duration horizon = std::max(kHorizon, 2 * round_trip);
  const auto in_horizon = static_cast<int64_t>(bytes_per_second_ * absl::ToDoubleSeconds(horizon));
  return std::max(kLeastChunks * chunk_bytes_, in_horizon);
}

absl::Duration HolderLink::ExpectedWait(Timestamp now, int64_t further_bytes) const {
  if (bytes_per_second_ <= 0) return owed_.empty() ? kUnknownWait : kUnknownWait + (now - heard_at_);
  const double bytes = static_cast<double>(owed_bytes_ + further_bytes);
  absl::Duration wait = absl::Seconds(bytes / bytes_per_second_);
  if (owed_.empty()) return std::max(wait, shortest_);
  // Later than one chunk takes: it has stopped, for all that is known.
  const absl::Duration due = absl::Seconds(static_cast<double>(chunk_bytes_) / bytes_per_second_);
  const absl::Duration late = now - heard_at_ - due;
  return late > absl::ZeroDuration() ? wait + late : wait;
}

}  // namespace banyan
