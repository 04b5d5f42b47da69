// The times of `banyan bench loopback`: in each pair both systems have carried the same bytes between the same
// processes, one after the other. Values; the functions are pure.
#ifndef BANYAN_BENCH_LOOPBACK_PAIRS_H_
#define BANYAN_BENCH_LOOPBACK_PAIRS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// Seconds of each pair, as one process has measured them or, after Slowest(), as the slowest process has.
struct LoopbackPairs {
  std::vector<double> banyan_seconds;
  std::vector<double> gloo_seconds;  // as many
};

struct LoopbackSummary {
  double banyan_seconds = 0;  // median
  double gloo_seconds = 0;    // median
  double ratio = 0;           // median of the pairs' Banyan / Gloo
};

// One line of JSON, and back. ParsePairs fails with INVALID_ARGUMENT.
std::string FormatPairs(const LoopbackPairs& pairs);
absl::StatusOr<LoopbackPairs> ParsePairs(absl::string_view line);

// An operation has ended when the last process has its result. REQUIRES: at least one process, all with as many pairs.
LoopbackPairs Slowest(const std::vector<LoopbackPairs>& processes);

// REQUIRES: there is a pair.
LoopbackSummary Summarize(const LoopbackPairs& pairs);

}  // namespace banyan

#endif  // BANYAN_BENCH_LOOPBACK_PAIRS_H_
