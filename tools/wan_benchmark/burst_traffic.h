// What others send over an emulated WAN while a contender's rounds go on. Pure functions.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_BURST_TRAFFIC_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_BURST_TRAFFIC_H_

#include <string>
#include <vector>

#include "tools/wan_benchmark/contender_result.h"
#include "tools/wan_benchmark/contender_run.h"
#include "tools/wan_benchmark/contender_setup.h"
#include "wan/wan_status.h"

namespace banyan {

// Returns at most `count` of `links`, those that were used most of the time at their rates in `status`, the first the
// most.
std::vector<ContenderResult::Link> MostLoaded(std::vector<ContenderResult::Link> links, const WanStatus& status,
                                              int count);

// The command line that sends bursts of `mbps` over the link until it is ended.
std::vector<std::string> TrafficArguments(const BenchPlace& place, const ContenderResult::Link& link, double mbps,
                                          const WanBursts& bursts);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_BURST_TRAFFIC_H_
