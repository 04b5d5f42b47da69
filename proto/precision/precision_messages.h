// What workers tell of a training step, and an operator of low-bit rounds. Plain values.
#ifndef BANYAN_PROTO_PRECISION_PRECISION_MESSAGES_H_
#define BANYAN_PROTO_PRECISION_PRECISION_MESSAGES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "proto/fields.h"

namespace banyan {

struct TrainingHealth {
  int64_t step = 0;  // from 1
  double loss = 0;
  double progress = 0;                          // part of the run that is done, in [0, 1]; 0 where it is not known
  double learning_rate_fraction = 1;            // of the largest learning rate
  std::optional<double> metric = std::nullopt;  // such as accuracy on a holdout set; larger is better

  friend bool operator==(const TrainingHealth&, const TrainingHealth&) = default;
};

// Whatever digits it is written with, it can be read again.
inline constexpr double kLargestLoss = 1e308;
// A training that diverges reports no number at all: it travels as a very large one, since its readers want numbers.
double FiniteLoss(double loss);
// Undoes FiniteLoss, but for the sign of what is no number: a very large loss would stay in a smoothed one for long.
double OriginalLoss(double loss);

// Node to scheduler, where the job has an operating profile: what one of its workers has reported.
struct HealthReport {
  WorkerId worker;
  TrainingHealth health;

  friend bool operator==(const HealthReport&, const HealthReport&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, HealthReport& m) {
  v(1, "worker", m.worker, Range{0u, kMaxWorkersPerNode - 1});
  v(2, "step", m.health.step, Range{int64_t{0}, std::numeric_limits<int64_t>::max()});
  constexpr Range kLosses = {-kLargestLoss, kLargestLoss};
  double loss = FiniteLoss(m.health.loss);
  v(3, "loss", loss, kLosses);
  v(4, "progress", m.health.progress, Range{0.0, 1.0});
  v(5, "learning_rate_fraction", m.health.learning_rate_fraction, Range{0.0, 1.0});
  std::optional<double> metric = m.health.metric;
  if (metric.has_value()) metric = FiniteLoss(*metric);
  v(6, "metric", metric, kLosses);
  if constexpr (Visitor::kReads) {
    m.health.loss = OriginalLoss(loss);
    m.health.metric = metric;
  }
}

// From `banyan veto`, on a connection that does not join: rounds of these scopes fall back to full precision until the
// veto is lifted.
struct VetoLowBit {
  static constexpr int kMostScopes = 64;

  std::vector<std::string> scopes;  // empty: all
  bool is_lifted = false;

  friend bool operator==(const VetoLowBit&, const VetoLowBit&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, VetoLowBit& m) {
  v(1, "scopes", m.scopes, Entries{0, VetoLowBit::kMostScopes}, kName);
  v(2, "is_lifted", m.is_lifted);
}

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_PRECISION_MESSAGES_H_
