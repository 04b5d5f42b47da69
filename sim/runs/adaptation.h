// How soon a job that is told little of its links is as fast as one that is told all. Values and pure functions.
#ifndef BANYAN_SIM_RUNS_ADAPTATION_H_
#define BANYAN_SIM_RUNS_ADAPTATION_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace banyan {

// A round is near when it takes at most so many times as long as one of who knows.
inline constexpr double kNear = 1.1;

// Returns the first of these rounds from which on they take about as long as usual: it and the two after it, as far as
// there are any, take at most kNear times `usual`. Empty where none does.
std::optional<size_t> FirstNear(const std::vector<double>& seconds, double usual);

struct Adaptation {
  std::optional<size_t> near_from;  // position of the first round that is near for good (FirstNear)
  double near_after_seconds = 0;    // when that begins
  size_t first_rounds = 0;          // six, or all of fewer
  double first_ratio = 0;           // of what these take to as many rounds of who knows
  double later_ratio = 0;           // the same of the median round of the later half
};

// Compares the `seconds` of a job's rounds, from its first on, with a round of `informed_seconds`. REQUIRES: not empty.
Adaptation AdaptationOf(const std::vector<double>& seconds, double informed_seconds);

}  // namespace banyan

#endif  // BANYAN_SIM_RUNS_ADAPTATION_H_
