// The barrier at which the processes of a benchmark wait for each other, outside of the network that is measured. It is
// a file that all processes of one machine map. The benchmark makes it and opens one round after the other. Members
// arrive when they are ready for the next round. Those that have ended a round leave its times there. They then wait
// for the rest before they do anything else, as all share the machine's processors.
// Thread-compatible; members are processes and share nothing else.
#ifndef BANYAN_BENCH_ROUND_BARRIER_H_
#define BANYAN_BENCH_ROUND_BARRIER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace banyan {

inline constexpr int kMaxGateMembers = 256;

// The start and the end of a round by the machine's monotonic clock, which its processes share.
struct RoundSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

class RoundBarrier {
 public:
  // Makes the file. REQUIRES: 1 <= members <= kMaxGateMembers.
  static absl::StatusOr<std::unique_ptr<RoundBarrier>> Create(const std::string& path, int members);
  // INVALID_ARGUMENT when the file is no barrier of so many members.
  static absl::StatusOr<std::unique_ptr<RoundBarrier>> Open(const std::string& path, int members);
  RoundBarrier(const RoundBarrier&) = delete;
  RoundBarrier& operator=(const RoundBarrier&) = delete;
  ~RoundBarrier();

  // Called by members. Rounds count from 1. Each member arrives at a round, awaits its opening, ends it, and awaits the
  // others' end.
  void Arrive(int member, int64_t round);
  void End(int member, int64_t round, RoundSpan span);
  // Both are false when the barrier is closed, or after `patience`.
  bool AwaitOpening(int64_t round, absl::Duration patience) const;
  bool AwaitAllEnded(int64_t round, absl::Duration patience) const;

  // Called by the benchmark.
  bool AllArrived(int64_t round) const;
  void OpenRound(int64_t round);
  // Every member may end.
  void Close();
  // Returns the span of the last round that all have ended. It reaches from the first member's start to the last
  // member's end; the opening makes the start the same for all.
  RoundSpan LastSpan() const;

 private:
  struct Shared;
  RoundBarrier(Shared* shared, int members) : shared_(shared), members_(members) {}

  bool IsClosed() const;
  static bool Await(const std::function<bool()>& is_over, absl::Duration patience, absl::Duration look_interval);

  Shared* const shared_;
  const int members_;
};

}  // namespace banyan

#endif  // BANYAN_BENCH_ROUND_BARRIER_H_
