// The metrics of a scheduler for a monitoring system: the same as `banyan status`. docs/metrics.md lists them.
#ifndef BANYAN_TOOLS_METRICS_SCHEDULER_METRICS_H_
#define BANYAN_TOOLS_METRICS_SCHEDULER_METRICS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/protocol.h"
#include "runtime/metrics/metrics_page.h"
#include "tools/reports/status_view.h"

namespace banyan {

// Stands around a scheduler's core and asks it for its status every second, or every second for each megabyte that the
// last one had, as a client on a connection of its own
// would; everything else passes through, and what it sends is shown to who wants it. Thread-compatible; owned by its
// driver.
class WatchedScheduler : public Protocol {
 public:
  // `take` gets the answers, as JSON, and `on_sent` all that the core sends to others, on the thread of the driver.
  WatchedScheduler(std::unique_ptr<Protocol> core, std::function<void(std::string json)> take,
                   std::function<void(const Message& message)> on_sent = nullptr);

  Actions Step(Timestamp now, Event event) override;
  Timestamp NextDeadline() const override;

 private:
  // Takes the answers out of what the core does, and adds the rest. An answer may wait for a record to be durable.
  void PassOn(Actions from_core, Actions& actions);

  const std::unique_ptr<Protocol> core_;
  const std::function<void(std::string json)> take_;
  const std::function<void(const Message& message)> on_sent_;
  Timestamp next_question_ = kNever;
  size_t answer_bytes_ = 0;  // of the last answer
};

// Pure function.
std::vector<MetricFamily> MakeSchedulerMetrics(const StatusView& status);

}  // namespace banyan

#endif  // BANYAN_TOOLS_METRICS_SCHEDULER_METRICS_H_
