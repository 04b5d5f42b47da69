// Judges what is known about the path to another site. Pure function; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_PATH_CHECKS_H_
#define BANYAN_TOOLS_DOCTOR_PATH_CHECKS_H_

#include <optional>

#include "absl/time/time.h"
#include "tools/doctor/check_result.h"
#include "tools/doctor/path_facts.h"

namespace banyan {

// The value of a check `reach`: a daemon of Banyan where a doctor was wanted.
inline constexpr char kDaemon[] = "a daemon";

// What the overlay says about the path, where it does.
struct PathExpectation {
  std::optional<absl::Duration> round_trip;
  std::optional<double> rate_there_bps;
  std::optional<double> rate_back_bps;
};

// Returns each check that could be made, in order: one that fails may leave no sense in those after it.
CheckResults CheckPath(const PathFacts& facts, const PathExpectation& expected);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_PATH_CHECKS_H_
