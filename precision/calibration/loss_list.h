// The losses of a run, step by step, and the plain list in which a file tells them: one number a line, of which the
// last word counts, as in `step 12 loss 0.53`. Empty lines and what follows a # do not count. Pure function.
#ifndef BANYAN_PRECISION_CALIBRATION_LOSS_LIST_H_
#define BANYAN_PRECISION_CALIBRATION_LOSS_LIST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// INVALID_ARGUMENT reads `file:line: what was expected, what came`. `nan` and `inf` are losses too.
absl::StatusOr<std::vector<double>> ReadLossList(absl::string_view text, absl::string_view file_name);

}  // namespace banyan

#endif  // BANYAN_PRECISION_CALIBRATION_LOSS_LIST_H_
