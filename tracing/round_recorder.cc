#include "tracing/round_recorder.h"

#include <algorithm>

namespace banyan {
namespace {

ChunkJourney JourneyOf(const ChunkMessage& chunk) {
  // A result of an earlier epoch may travel up.
  return {chunk.id.round,           chunk.id.key,         chunk.id.chunk,
          chunk.made_in != Epoch(), chunk.route.source(), chunk.route.destination()};
}

}  // namespace

bool RoundRecorder::TakeRoom() {
  if (records_.size() < most_records_) return true;
  ++records_.left_out;
  return false;
}

void RoundRecorder::Narrow(Round first, Round last) {
  first_ = first;
  last_ = last;
  std::erase_if(records_.arrivals, [this](const auto& row) { return !Wants(row.journey.round); });
  std::erase_if(records_.departures, [this](const auto& row) { return !Wants(row.journey.round); });
  std::erase_if(records_.moments,
                [this](const auto& row) { return !Wants(row.round) && !IsFormer(row.step, row.round); });
}

void RoundRecorder::AddArrival(const ChunkMessage& chunk, int64_t size_bytes, Timestamp now) {
  if (chunk.id.half == Half::kState || !TakeRoom()) return;
  records_.arrivals.push_back({JourneyOf(chunk), chunk.route.sender(), size_bytes, chunk.sent_at, now});
}

void RoundRecorder::AddDeparture(const ChunkMessage& chunk, Timestamp now) {
  if (chunk.id.half == Half::kState || !TakeRoom()) return;
  records_.departures.push_back({JourneyOf(chunk), now});
}

void RoundRecorder::AddMoment(RoundRecords::Step step, KeyId key, Round round, Timestamp now) {
  const bool is_wanted = Wants(round) || (is_on_ && IsFormer(step, round));
  if (is_wanted && TakeRoom()) records_.moments.push_back({step, round, key, now});
}

void RoundRecorder::OnPolicy(KeyId key, Round first, Round last, Timestamp now) {
  if (!is_on_) return;
  const Round last_wanted = std::min(last, last_);
  for (Round round = std::max(first, first_); round <= last_wanted; round = round.Next()) {
    AddMoment(RoundRecords::Step::kPolicyCame, key, round, now);
  }
}

void RoundRecorder::OnClock(const RoundRecords::ClockSample& sample) {
  if (!is_on_) return;
  if (records_.clocks.size() >= kMostClocks) {
    size_t kept = 0;
    for (size_t i = 0; i < records_.clocks.size(); i += 2) records_.clocks[kept++] = records_.clocks[i];
    records_.clocks.resize(kept);
  }
  records_.clocks.push_back(sample);
}

}  // namespace banyan
