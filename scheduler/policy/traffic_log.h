// Turns the reports of nodes, which come at different times, into what all links have carried in intervals of equal
// length. Time is handed in. Thread-compatible; owned by Replanner.
//
// Rules:
// - Between two reports a link carries evenly. A node that has nothing new to report is silent, so what comes after a
//   silence was carried in the last interval of it.
// - A link was busy in an interval when its sender's newest measurement is from then, and says that it always had more
//   to send. It must also have carried about the measured rate in all of the interval. Then that is what it carried:
//   bytes count when they are sent, and a round begins with a window full of them.
// - A node that starts again counts its bytes from 0: nothing is known of the interval in between.
#ifndef BANYAN_SCHEDULER_POLICY_TRAFFIC_LOG_H_
#define BANYAN_SCHEDULER_POLICY_TRAFFIC_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "topology/inference/traffic_window.h"
#include "topology/network_view.h"

namespace banyan {

class TrafficLog {
 public:
  // A busy link carries at least this part of its measured rate.
  static constexpr double kBusyPart = 0.8;

  // `interval` is how often nodes report, above 0.
  explicit TrafficLog(absl::Duration interval) : interval_(interval) {}

  // Takes what the links that leave `from` have carried. Links that `view` does not have are left out.
  void Accept(Timestamp now, NodeId from, const std::vector<NodeReport::Link>& links, const NetworkView& view);
  // Returns the next interval that is over, and whose reports have had the time to come; empty when there is none.
  // Links are numbered as in the view.
  std::optional<std::vector<LinkTraffic>> Next(Timestamp now);
  // Forgets all: links have other numbers.
  void Clear();

 private:
  struct Report {
    Timestamp at;
    uint64_t sent_bytes = 0;
    std::optional<Timestamp> measured_at;
    double measured_bps = 0;
    bool was_busy = false;  // when it was measured
  };

  double BytesAt(const std::deque<Report>& reports, Timestamp at) const;
  LinkTraffic TrafficOf(size_t link, const std::deque<Report>& reports, Timestamp end) const;

  absl::Duration interval_;
  std::optional<Timestamp> begin_;  // of the next interval
  std::map<size_t, std::deque<Report>> reports_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_TRAFFIC_LOG_H_
