// The demo's knowledge of its network while it runs: what the scheduler tells of links and policy, and beside it what
// the emulated links really are. Pure; thread-compatible.
#ifndef BANYAN_TOOLS_DEMO_DEMO_NETWORK_STATE_H_
#define BANYAN_TOOLS_DEMO_DEMO_NETWORK_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/status.h"
#include "wan/wan_status.h"

namespace banyan {

// One direction, as the scheduler sees it.
struct DemoLink {
  std::string from;
  std::string to;
  uint64_t sent_bytes = 0;
  double mbps = 0;  // measured, or believed from the start
  bool is_measured = false;
  std::optional<double> wan_mbps = {};  // what the emulated link carries at present
  bool is_cut = false;                  // likewise
};

class DemoNetworkState {
 public:
  // `elapsed` is the time since the demo's start and never decreases.
  void Add(const JobStatus& status, absl::Duration elapsed);
  void Add(const WanStatus& wan, absl::Duration elapsed);

  // Returns the links in the order of the overlay.
  std::vector<DemoLink> links() const;
  uint64_t wire_bytes() const;
  bool is_wan() const { return wan_.has_value(); }
  // Returns the number of links whose emulated rate the scheduler knows to a fifth; nothing without an emulated WAN.
  std::optional<int> links_known() const;

  // Version 0 before the first; the other members tell of its plan.
  const JobStatus& status() const { return status_; }
  // Returns the time at which the scheduler's last policy was first seen.
  absl::Duration policy_since() const { return policy_since_; }
  // Return how often links of the emulated WAN have changed, and when they did so last.
  int rate_changes() const { return rate_changes_; }
  absl::Duration rates_since() const { return rates_since_; }

 private:
  JobStatus status_;
  absl::Duration policy_since_;
  std::optional<WanStatus> wan_;
  int rate_changes_ = 0;
  absl::Duration rates_since_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_NETWORK_STATE_H_
