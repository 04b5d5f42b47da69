// Weighs whether links share a capacity, by what they carry together beside what each can carry. Links that share
// nothing carry as much as they can, whoever else is busy: their sum grows with the number of busy links. Where they
// share something that is full the sum stays, however many of them are busy. Pure functions.
//
// Rules:
//   1. An interval counts when at least two of the links were busy and carried most of the sum. One busy link alone
//      tells its own rate, and links that take turns may seem to have a constant sum.
//   2. In such an interval the links could carry what the busy ones have reached, at this time or another, and what the
//      others carried. They were held back when they carried much less.
//   3. The slope tells how the logarithm of what they carried goes with that of what they could. It is 0 for links that
//      share something full, and 1 for links that each by itself got slower. Intervals count for it in which they could
//      carry more than they ever do.
//   4. No single link shows sharing: its rate may be overstated, or it may have become slower by itself. So they
//      must be held back also when any one of them is taken to reach no more than it mostly carried while it was busy.
//   5. A link could carry at a time what it reached before and after: it may have become slower by itself meanwhile.
//   6. A slope needs intervals that differ in what the links could carry. Links that are always busy together show
//      nothing.
#ifndef BANYAN_TOPOLOGY_INFERENCE_SUM_EVIDENCE_H_
#define BANYAN_TOPOLOGY_INFERENCE_SUM_EVIDENCE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "topology/inference/traffic_window.h"

namespace banyan {

// What links carried in an interval that counts, and what they could.
struct SumInterval {
  size_t age = 0;  // 0 for the newest interval
  double carried_bps = 0;
  double could_bps = 0;

  bool is_held_back() const;
};

struct SumEvidence {
  std::vector<SumInterval> intervals;  // the newest last
  size_t held_back = 0;                // of them
  double reached_bps = 0;              // in all but the best of them: what the links carry at most
  double steady_part = 0;              // of the intervals, in which the sum was close to that
  double slope = 1;
  double slope_error = 1;
  double spread = 0;  // the standard deviation of the logarithms of what they could carry
};

// Returns the intervals that count, among the last `most` of the window. `rates_bps` are the rates that some links have
// reached before the window.
std::vector<SumInterval> CountedIntervals(const TrafficWindow& window, absl::Span<const size_t> links,
                                          const std::map<size_t, double>& rates_bps = {},
                                          size_t most = TrafficWindow::kIntervals);

// Weighs these intervals.
SumEvidence WeighSums(std::vector<SumInterval> intervals);

// Returns the evidence that these links share something; empty when there is none, or too little.
std::optional<SumEvidence> FindSharing(const TrafficWindow& window, absl::Span<const size_t> links);
// Returns whether the evidence shows that the links share something, or that they do not. Little evidence shows
// neither. The first leaves rules 4 and 5 out.
bool ShowsSharing(const SumEvidence& evidence);
bool ShowsNoSharing(const SumEvidence& evidence);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_INFERENCE_SUM_EVIDENCE_H_
