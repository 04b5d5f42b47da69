// Reads the overlay that an operator wants for the running job, as work for the compute pool: a file may have a million
// links. Owned by the core or the driver, as the Computation interface says.
#ifndef BANYAN_SCHEDULER_POLICY_OVERLAY_READING_H_
#define BANYAN_SCHEDULER_POLICY_OVERLAY_READING_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "protocol/computation.h"
#include "scheduler/state/state_record.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/planner.h"

namespace banyan {

// A change that an operator wants for the running job. It fits the job, but need not have a plan.
struct Reconfiguration {
  OverlayConfig overlay;
  NetworkView believed;
  PlannerConfig planner_config;
  OverlayText text;
  std::string changes;  // for the operator

  // Why its plan is made.
  std::string Reason() const;
};

class OverlayReading : public Computation {
 public:
  // Reads `text`, and compares it with the overlay of the running job, whose tensors' widest element has
  // `element_bytes`.
  OverlayReading(OverlayConfig running, OverlayText text, int64_t element_bytes = 4)
      : running_(std::move(running)), text_(std::move(text)), element_bytes_(element_bytes) {}

  void Run() override { result_ = Read(); }
  int64_t size_bytes() const override { return static_cast<int64_t>(text_.yaml.size()); }

  // After Run: the change, or what is wrong with it.
  absl::StatusOr<Reconfiguration> TakeResult() { return std::move(result_); }

 private:
  absl::StatusOr<Reconfiguration> Read() const;

  OverlayConfig running_;
  OverlayText text_;
  int64_t element_bytes_;
  absl::StatusOr<Reconfiguration> result_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_OVERLAY_READING_H_
