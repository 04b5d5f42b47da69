#include "tracing/round_recorder.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace banyan {
namespace {

ChunkJourney JourneyOf(const ChunkMessage& chunk) {
  // A result of an earlier epoch may travel up.
  return {chunk.id.round,           chunk.id.key,         chunk.id.chunk,
          chunk.made_in != Epoch(), chunk.route.source(), chunk.route.destination()};
}

// Moves up to `room` of the first rows, and takes them from `room`.
template <typename Row>
std::vector<Row> TakeRows(std::vector<Row>& from, size_t& room) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(room, from.size()));
  std::vector<Row> taken(from.begin(), end);
  from.erase(from.begin(), end);
  room -= taken.size();
  return taken;
}

template <typename Row>
void AddRows(const std::vector<Row>& from, std::vector<Row>& to) {
  to.insert(to.end(), from.begin(), from.end());
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

bool IsEmpty(const RoundRecords& records) { return records.size() == 0 && records.clocks.empty(); }

RoundRecords TakePiece(RoundRecords& rest, size_t most) {
  RoundRecords piece;
  piece.arrivals = TakeRows(rest.arrivals, most);
  piece.departures = TakeRows(rest.departures, most);
  piece.moments = TakeRows(rest.moments, most);
  piece.clocks = TakeRows(rest.clocks, most);
  piece.left_out = std::exchange(rest.left_out, 0);
  return piece;
}

void AddPiece(const RoundRecords& piece, RoundRecords& whole) {
  AddRows(piece.arrivals, whole.arrivals);
  AddRows(piece.departures, whole.departures);
  AddRows(piece.moments, whole.moments);
  AddRows(piece.clocks, whole.clocks);
  whole.left_out += piece.left_out;
}

}  // namespace banyan
