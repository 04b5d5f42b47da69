// The metrics of a node for a monitoring system: its own reports to the scheduler. docs/reference/metrics.md lists
// them.
#ifndef BANYAN_TOOLS_METRICS_NODE_METRICS_H_
#define BANYAN_TOOLS_METRICS_NODE_METRICS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/scheduler_messages.h"
#include "protocol/tap.h"
#include "runtime/metrics/latest_value.h"
#include "runtime/metrics/metrics_page.h"

namespace banyan {

// A node's last report, with the names that it leaves out.
struct NodeSnapshot {
  NodeReport report;
  std::map<NodeId, std::string> nodes;
  std::map<KeyId, std::string> keys;
  Histogram round_times = {};  // those between two reports count as the last of them
};

// Reads along what a node's core tells the scheduler, and what the scheduler tells it of names. Thread-compatible;
// owned by its driver.
class WatchedNode : public Tap {
 public:
  // `snapshot` gets each report and outlives this.
  WatchedNode(std::unique_ptr<Protocol> core, LatestValue<NodeSnapshot>* snapshot)
      : Tap(std::move(core)), snapshot_(snapshot) {}

 private:
  void OnEvent(Event& event) override;
  bool OnAction(Action& action) override;

  LatestValue<NodeSnapshot>* const snapshot_;
  // The first that the core opens: to the scheduler. Other connections are of peers, whose word on names is nothing.
  std::optional<ConnectionId> scheduler_;
  NodeSnapshot latest_;
};

// Pure function.
std::vector<MetricFamily> MakeNodeMetrics(const NodeSnapshot& snapshot);
// Tells whether other machines reach the node, which has no keys then.
MetricFamily MakeInsecureMetric(bool is_insecure);

// The synchronisation times of rounds, of `process`: "node" or "scheduler".
MetricFamily MakeRoundTimesMetric(absl::string_view process, const Histogram& round_times);

// Says which release a daemon is of.
MetricFamily MakeBuildInfoMetric();

}  // namespace banyan

#endif  // BANYAN_TOOLS_METRICS_NODE_METRICS_H_
