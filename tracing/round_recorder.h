// Notes what a node does for the rounds that are traced, and nothing while none is. Thread-compatible; written to by
// NodeCore and its parts, and owned by it or by who reads it.
//
// Invariants:
// - Holds at most so many records, and of clocks at most kMostClocks. What finds no room is counted.
// - Nothing that a core does depends on it.
#ifndef BANYAN_TRACING_ROUND_RECORDER_H_
#define BANYAN_TRACING_ROUND_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/ids.h"
#include "core/time.h"
#include "proto/chunk_message.h"
#include "proto/tracing/round_records.h"

namespace banyan {

class RoundRecorder {
 public:
  static constexpr size_t kMostRecords = 1 << 16;
  static constexpr size_t kMostClocks = 1 << 12;

  // Notes rounds `first` to `last` from now on, beside what it holds, and holds at most `most_records`.
  void Begin(Round first, Round last, size_t most_records = kMostRecords) {
    first_ = first;
    last_ = last;
    most_records_ = most_records;
    is_on_ = true;
  }
  // Notes only these rounds, and forgets all others but the end of the one before them.
  void Narrow(Round first, Round last);
  // Ends it, and returns what was noted.
  RoundRecords End() {
    is_on_ = false;
    return std::exchange(records_, {});
  }
  bool is_on() const { return is_on_; }
  const RoundRecords& records() const { return records_; }

  // A chunk of `size_bytes` has come over a link. Those of training states are not noted, here and below.
  void OnArrival(const ChunkMessage& chunk, int64_t size_bytes, Timestamp now) {
    if (Wants(chunk.id.round)) AddArrival(chunk, size_bytes, now);
  }
  // A chunk that this node made is ready to go.
  void OnReady(const ChunkMessage& chunk, Timestamp now) {
    if (Wants(chunk.id.round)) AddDeparture(chunk, now);
  }
  void OnContributed(KeyId key, Round round, Timestamp now) {
    AddMoment(RoundRecords::Step::kContributed, key, round, now);
  }
  void OnCompleted(KeyId key, Round round, Timestamp now) {
    AddMoment(RoundRecords::Step::kCompleted, key, round, now);
  }
  // The policy of rounds `first` to `last` of the key is known.
  void OnPolicy(KeyId key, Round first, Round last, Timestamp now);
  // When the records are full of clocks, every second one is forgotten.
  void OnClock(const RoundRecords::ClockSample& sample);

 private:
  // The end of the round before those that are noted tells since when a node could begin.
  bool IsFormer(RoundRecords::Step step, Round round) const {
    return step == RoundRecords::Step::kCompleted && round.Next() == first_;
  }
  bool Wants(Round round) const { return is_on_ && first_ <= round && round <= last_; }
  // Returns whether there is room for one more.
  bool TakeRoom();
  void AddArrival(const ChunkMessage& chunk, int64_t size_bytes, Timestamp now);
  void AddDeparture(const ChunkMessage& chunk, Timestamp now);
  void AddMoment(RoundRecords::Step step, KeyId key, Round round, Timestamp now);

  bool is_on_ = false;
  Round first_;
  Round last_;
  size_t most_records_ = kMostRecords;
  RoundRecords records_;
};

// --- pieces: the records of a node are taken apart, so that no message is long, and put together again ---

// Returns whether nothing is left to take.
bool IsEmpty(const RoundRecords& records);
// Moves up to `most` records out of `rest`, those of clocks included, and the count of those left out with the first.
RoundRecords TakePiece(RoundRecords& rest, size_t most);
// Adds a piece to `whole`.
void AddPiece(const RoundRecords& piece, RoundRecords& whole);

}  // namespace banyan

#endif  // BANYAN_TRACING_ROUND_RECORDER_H_
