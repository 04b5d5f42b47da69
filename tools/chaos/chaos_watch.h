// What the faults have cost a job's training: watches its rounds, and measures. Pure; thread-compatible.
//
// A survivor of a fault is a training process that the fault does not hit, and that was not down because of an earlier
// one. It is without a result from the fault to its next result, or from that one to the one after it. The longer time
// counts, since the first result may have been on its way already. The survivor with the longest such time tells
// that of the fault. A time that is over only with the watch counts up to there.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_WATCH_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/time.h"
#include "tools/chaos/chaos_fault.h"
#include "tools/reports/training_progress.h"

namespace banyan {

// All zero when nothing was measured.
struct ChaosTimes {
  size_t count = 0;
  absl::Duration median;
  absl::Duration percentile_99;
  absl::Duration longest;
};

// The faults of one kind.
struct ChaosCost {
  ChaosKind kind = ChaosKind::kKillNode;
  size_t faults = 0;
  ChaosTimes without_result;  // of survivors
  size_t stalled = 0;         // faults after which a survivor had no result any more until the watch was over
  ChaosTimes back;            // until whoever was hit contributed again, from the kill or from the end of the stop
  size_t not_back = 0;        // who had not done so when the watch was over
};

struct ChaosFigures {
  std::vector<ChaosCost> costs;  // of the kinds that there were
  std::optional<double> undisturbed_rounds_per_hour;
  std::optional<double> rounds_per_hour;  // while there were faults
  // Results that training processes had, of those that were not stopped or cut off while the round came to its end: of
  // all of them together, and of the process that had the fewest. A process that was killed counts at once.
  std::optional<double> participation;
  std::optional<double> least_participation;
  std::string least_node;  // its data centre
  // Results of all training processes together in an hour with faults, as a part of those without.
  std::optional<double> goodput;
  // Whether all training processes ended with the same parameters; empty unless all have told.
  std::optional<bool> replicas_are_equal;

  // Returns the second rate as a part of the first.
  std::optional<double> rate_part() const;
};

// The watch begins without faults. They come between the first and the last one, and then it goes on to its end.
struct ChaosPeriods {
  Timestamp start;
  Timestamp first_fault;
  Timestamp last_fault;
  Timestamp end;
};

class ChaosWatch {
 public:
  // The data centre where the training process `rank` runs.
  void SetNode(int rank, const std::string& node) { nodes_[rank] = node; }
  void Add(const TrainingProgress& progress);
  void Add(const ChaosFault& fault) { faults_.push_back(fault); }

  const std::vector<ChaosFault>& faults() const { return faults_; }
  // Returns whether any round has been told of.
  bool has_rounds() const { return last_round_ > 0; }
  // Returns whether a training process has told its result, or all have.
  bool is_training_over() const { return !over_.empty(); }
  bool are_all_over() const { return over_.size() >= results_.size(); }

  ChaosFigures Measure(const ChaosPeriods& periods) const;

 private:
  struct Result {
    Timestamp pushed_at;
    Timestamp pulled_at;
    int64_t round = 0;
  };
  struct Gap {
    absl::Duration time;
    bool is_open = false;  // only the end of the watch has ended it
  };
  using Results = std::vector<Result>;

  bool Hits(const ChaosFault& fault, int rank) const;
  // The next fault after `time` that hits `rank`; kNever when there is none.
  Timestamp NextHit(int rank, Timestamp time) const;
  bool WasDown(int rank, Timestamp time) const;
  const Results& ResultsOf(int rank) const { return results_.at(rank); }
  std::optional<Gap> GapAfter(const ChaosFault& fault, int rank, Timestamp end) const;
  std::optional<Gap> LongestGap(const ChaosFault& fault, Timestamp end) const;
  std::optional<Gap> BackAfter(const ChaosFault& fault, Timestamp end) const;
  ChaosCost CostOf(ChaosKind kind, Timestamp end) const;
  std::optional<double> RoundsPerHour(Timestamp from, Timestamp to) const;
  std::optional<double> ResultsPerHour(Timestamp from, Timestamp to) const;
  // Fills in who took part in the rounds that came to their end from `from` to `to`.
  void MeasureParticipation(Timestamp from, Timestamp to, ChaosFigures& figures) const;
  // Returns whether a fault that lasts keeps the process away at that time.
  bool IsAway(int rank, Timestamp time) const;

  std::map<int, std::string> nodes_;                       // by rank
  std::map<int, Results> results_;                         // by rank, in the order of time
  std::set<int> over_;                                     // ranks that have told their results
  std::set<std::string> hashes_;                           // of their parameters
  std::vector<std::pair<Timestamp, int64_t>> new_rounds_;  // when each round was first told of
  int64_t last_round_ = 0;
  std::vector<ChaosFault> faults_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_WATCH_H_
