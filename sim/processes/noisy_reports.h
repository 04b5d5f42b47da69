// Stands around a node's core and makes its measurements of links worse than they are: each rate that it reports is
// multiplied by a factor of its own, normally distributed around 1. Thread-compatible; owns the core.
#ifndef BANYAN_SIM_PROCESSES_NOISY_REPORTS_H_
#define BANYAN_SIM_PROCESSES_NOISY_REPORTS_H_

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "core/random.h"
#include "protocol/protocol.h"

namespace banyan {

class NoisyReports : public Protocol {
 public:
  // `deviation` is the standard deviation of the factor; 0.1 is 10%.
  NoisyReports(std::unique_ptr<Protocol> core, double deviation, Random random)
      : core_(std::move(core)), deviation_(deviation), random_(random) {}

  Actions Step(Timestamp now, Event event) override {
    Actions actions = core_->Step(now, std::move(event));
    for (Action& action : actions) {
      auto* const send = std::get_if<Send>(&action);
      auto* const report = send == nullptr ? nullptr : std::get_if<NodeReport>(&send->message);
      if (report != nullptr) Distort(*report);
    }
    return actions;
  }
  Timestamp NextDeadline() const override { return core_->NextDeadline(); }

 private:
  // No factor is so low that a link would seem dead.
  static constexpr double kLowestFactor = 0.1;

  void Distort(NodeReport& report) {
    for (NodeReport::Link& link : report.links) {
      if (link.measurement.has_value()) link.measurement->rate_bps *= Factor();
    }
  }

  // The sum of twelve uniform values has variance 1 and is as good as normal up to three deviations.
  double Factor() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random_.Unit();
    return std::max(kLowestFactor, 1 + deviation_ * sum);
  }

  std::unique_ptr<Protocol> core_;
  double deviation_;
  Random random_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_NOISY_REPORTS_H_
