// The table of `banyan bench accuracy`: a row for each combination and rate, means over its seeds. Pure functions.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_TABLE_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "examples/fashion_mnist/accuracy/accuracy_result.h"

namespace banyan {

struct AccuracyRow {
  std::string name;
  double mbps = 0;
  bool is_plain = false;                // not compressed: what others at the same rate are compared with
  std::vector<AccuracyResult> results;  // one for each seed from 1, at least one
};

// Means over the seeds; of accuracy the extremes too.
struct AccuracySummary {
  AccuracyResult mean;  // seconds_to_target is empty where a seed did not reach it
  double least_accuracy = 0;
  double greatest_accuracy = 0;
};

AccuracySummary Summarize(const AccuracyRow& row);

// The mean throughput over that of the plain row of the same rate; empty without one.
std::optional<double> SpeedUp(absl::Span<const AccuracyRow> rows, const AccuracyRow& row);

// Checks that the replicas of all trainings are identical. DATA_LOSS names each training where they are not.
absl::Status CheckReplicas(absl::Span<const AccuracyRow> rows);

// Markdown. `target` in percent.
std::string AccuracyText(absl::Span<const AccuracyRow> rows, double target);
std::string AccuracyJson(absl::Span<const AccuracyRow> rows, double target);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_TABLE_H_
