// What trainings of `banyan bench accuracy` gave, and their table: a row for each combination and rate, means over its
// seeds. Values and pure functions.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_TABLE_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace banyan {

// What one training gave.
struct AccuracyResult {
  double accuracy = 0;  // after the last round, in [0, 1]
  // Accuracies while it trained, with the simulated seconds after which they were measured.
  std::vector<std::pair<double, double>> course;
  double sent_bytes = 0;
  double seconds = 0;                       // simulated
  std::optional<double> seconds_to_target;  // empty: not reached
  double samples_per_second = 0;            // images, of all workers
  double volume = 1;                        // bytes of encoded values over those as float32
  bool replicas_identical = false;
  // Images per second while links stood for so many Mbit/s, where that changes for all links alike.
  std::map<double, double> pace_at_mbps;
};

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
