// Says how many rounds a lease is to cover, so that rounds go on for long enough without a scheduler: as many as have
// closed lately in that time. Time is handed in. Thread-compatible; owned by JobRounds.
//
// Invariants:
// - Leases that begin at the same time are of the same length, so that keys in step stay in step.
// - The first rounds tell the pace at once, so that a young job has leases of their full time soon: a lease too long
// does
//   no harm, since it can be cut. A measurement shortens leases by kMostChange at most.
// - All keys together lease kMostLeasedRounds at most, or kFirstLease each: members report each of these rounds.
#ifndef BANYAN_SCHEDULER_ROUNDS_LEASE_PACER_H_
#define BANYAN_SCHEDULER_ROUNDS_LEASE_PACER_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"

namespace banyan {

class LeasePacer {
 public:
  static constexpr uint64_t kFirstLease = 16;
  static constexpr double kMostChange = 4;
  // Of one lease: whoever gets it may walk through its rounds.
  static constexpr uint64_t kLongestLease = 32768;
  static constexpr uint64_t kMostLeasedRounds = uint64_t{1} << 19;
  static constexpr absl::Duration kShortestLook = absl::Seconds(1);
  // The first look.
  static constexpr absl::Duration kFirstLook = absl::Milliseconds(100);
  static constexpr uint64_t kFewestFirstRounds = 2;

  // Leases cover `time`; zero: one round each.
  explicit LeasePacer(absl::Duration time) : time_(time) {}

  // The fastest key has this oldest open round.
  void NoteOpen(Round first_open) { open_ = std::max(open_, first_open); }
  // There is a lease of so many rounds from before.
  void NoteLease(uint64_t rounds) {
    length_ = std::max(length_, std::min(rounds, kLongestLease));
    longest_ = std::max(longest_, length_);
  }
  // Measures the pace, when enough has happened since it was measured last. The job has `keys` keys.
  void Measure(Timestamp now, uint64_t keys) {
    most_ = std::clamp(kMostLeasedRounds / std::max<uint64_t>(1, keys), kFirstLease, kLongestLease);
    if (!since_.has_value()) Begin(now);
    const absl::Duration elapsed = now - *since_;
    const uint64_t rounds = open_.value() - open_then_.value();
    const bool is_early = !has_measured_ && elapsed >= kFirstLook && rounds >= kFewestFirstRounds;
    if ((elapsed < kShortestLook && !is_early) || rounds == 0) return;
    has_measured_ = true;
    const double wanted = static_cast<double>(rounds) * absl::FDivDuration(time_, elapsed);
    const double least = std::max(1.0, static_cast<double>(length_) / kMostChange);
    length_ = static_cast<uint64_t>(std::clamp(wanted, least, static_cast<double>(kLongestLease)));
    longest_ = std::max(longest_, this->length());
    Begin(now);
  }

  // Returns how many rounds a lease covers that begins now.
  uint64_t length() const { return time_ == absl::ZeroDuration() ? 1 : std::min(length_, most_); }
  // Returns the most that it was.
  uint64_t longest() const { return time_ == absl::ZeroDuration() ? 1 : longest_; }

 private:
  void Begin(Timestamp now) {
    since_ = now;
    open_then_ = open_;
  }

  const absl::Duration time_;
  uint64_t length_ = kFirstLease;
  uint64_t longest_ = kFirstLease;
  uint64_t most_ = kFirstLease;
  bool has_measured_ = false;
  Round open_;
  Round open_then_;
  std::optional<Timestamp> since_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_LEASE_PACER_H_
