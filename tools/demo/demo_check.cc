#include "tools/demo/demo_check.h"

#include <optional>

#include "absl/strings/str_format.h"

namespace banyan {

absl::Status CheckTraining(const DemoProgress& progress, double least_accuracy) {
  if (!progress.replicas_identical()) {
    return absl::DataLossError("expected identical replicas, and the training processes ended with different ones");
  }
  const std::optional<double> accuracy = progress.accuracy();
  if (!accuracy.has_value()) {
    return absl::OutOfRangeError(absl::StrFormat(
        "expected a test accuracy of at least %.3f, and no training process measured one", least_accuracy));
  }
  if (*accuracy >= least_accuracy) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrFormat(
      "expected a test accuracy of at least %.3f (--least-accuracy), reached %.3f", least_accuracy, *accuracy));
}

}  // namespace banyan
