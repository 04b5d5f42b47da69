// What `banyan bench wan --bursts` prints: rounds in bursts of others' traffic beside those before. Pure functions.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_BURST_REPORT_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_BURST_REPORT_H_

#include <string>

#include "tools/wan_benchmark/wan_report.h"

namespace banyan {

// REQUIRES (both): each result that is ok() has quiet rounds.
std::string BurstReportText(const WanReport& report);
std::string BurstReportJson(const WanReport& report);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_BURST_REPORT_H_
