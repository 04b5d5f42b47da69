// What workers tell of a training step, and an operator of low-bit rounds. Plain values.
#ifndef BANYAN_PROTO_PRECISION_PRECISION_MESSAGES_H_
#define BANYAN_PROTO_PRECISION_PRECISION_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"

namespace banyan {

struct TrainingHealth {
  int64_t step = 0;  // from 1
  double loss = 0;
  double progress = 0;                          // part of the run that is done, in [0, 1]; 0 where it is not known
  double learning_rate_fraction = 1;            // of the largest learning rate
  std::optional<double> metric = std::nullopt;  // such as accuracy on a holdout set; larger is better

  friend bool operator==(const TrainingHealth&, const TrainingHealth&) = default;
};

// Node to scheduler, where the job has an operating profile: what one of its workers has reported.
struct HealthReport {
  WorkerId worker;
  TrainingHealth health;

  friend bool operator==(const HealthReport&, const HealthReport&) = default;
};

// From `banyan veto`, on a connection that does not join: rounds of these scopes fall back to full precision until the
// veto is lifted.
struct VetoLowBit {
  static constexpr int kMostScopes = 64;

  std::vector<std::string> scopes;  // empty: all
  bool is_lifted = false;

  friend bool operator==(const VetoLowBit&, const VetoLowBit&) = default;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_PRECISION_MESSAGES_H_
