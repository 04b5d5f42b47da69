// What others send over an emulated WAN while a contender's rounds go on. A value and pure functions.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_BURST_TRAFFIC_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_BURST_TRAFFIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tools/wan_benchmark/contender_result.h"
#include "tools/wan_benchmark/contender_setup.h"
#include "wan/wan_status.h"

namespace banyan {

// What others send over the links that carry most, from after the rounds that count on.
struct WanBursts {
  double part = 0;  // of each link's rate
  int links = 3;
  std::vector<ContenderResult::Link> loaded = {};  // over these; empty: over so many that carry most
  absl::Duration on = absl::Seconds(2);
  absl::Duration off = absl::Seconds(3);
  int64_t first_rounds = 3;  // in bursts, that do not count
};

// Returns at most `count` of `links`, those that were used most of the time at their rates in `status`, the first the
// most.
std::vector<ContenderResult::Link> MostLoaded(std::vector<ContenderResult::Link> links, const WanStatus& status,
                                              int count);

// The command line that sends bursts of `mbps` over the link until it is ended.
std::vector<std::string> TrafficArguments(const BenchPlace& place, const ContenderResult::Link& link, double mbps,
                                          const WanBursts& bursts);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_BURST_TRAFFIC_H_
