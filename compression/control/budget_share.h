// Shares a budget of time between the links of a tree's reduce half, by the ratio that each link takes. Every path from
// a leaf to the root meets the budget, and no link is compressed more than that needs. Pure function.
//
// The model. A link of rate b that carries `load_bytes` at ratio k sends for u = k * load / b. Forwarding is pipelined:
// a link begins when the first bytes have come over the one before. So a path takes its links' delays, the time of the
// first bytes on each, and the remaining time on its slowest link:
//   sum(delay) + sum(f * u) + max((1 - f) * u),  f = first_bytes / load_bytes.
// With f = 1 it is store-and-forward, and times add up; with f = 0 links work at the same time, and each has the budget
// for itself.
//
// Fair means: time, max-min. All links' times rise together; one stops rising when it sends uncompressed or when a path
// through it has used up the budget. So a fast link on a slow path is hardly compressed, since it needs little time,
// and what it leaves is its neighbours'. A ratio of the result could be raised only by lowering that of a link with no
// more time. A link above the least ratio is compressed only if a path through it takes the whole budget.
#ifndef BANYAN_COMPRESSION_CONTROL_BUDGET_SHARE_H_
#define BANYAN_COMPRESSION_CONTROL_BUDGET_SHARE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace banyan {

struct BudgetedLink {
  std::optional<int64_t> next =
      std::nullopt;     // index of the link from this one's receiver towards the root; empty at the root
  double rate_bps = 0;  // > 0
  absl::Duration delay = absl::ZeroDuration();  // propagation, one way
  int64_t load_bytes = 0;                       // of the tree's share of a round, uncompressed
  int64_t first_bytes = 0;                      // of them, what must have come before the next link can begin: a chunk
};

struct LinkShare {
  double ratio = 1;
  absl::Duration duration = absl::ZeroDuration();  // of sending at that ratio, without the delay: the link's own budget
  // False: a path through it takes too long, although the links whose times add up there have the least ratio.
  bool meets_budget = true;
};

// One share for each link, in the order of `links`. INVALID_ARGUMENT names the link whose values make no sense or whose
// way does not lead to a root; also for a `least_ratio` outside of (0, 1] or a budget that is not positive.
absl::StatusOr<std::vector<LinkShare>> ShareBudget(absl::Span<const BudgetedLink> links, absl::Duration budget,
                                                   double least_ratio);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_BUDGET_SHARE_H_
