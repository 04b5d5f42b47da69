// What `banyan bench wan` prints. Pure functions.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_WAN_REPORT_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_WAN_REPORT_H_

#include <string>
#include <vector>

#include "tools/wan_benchmark/contender_result.h"

namespace banyan {

struct WanReport {
  std::string overlay;  // the file
  double model_bits = 0;
  double bound_bps = 0;    // of the rates at the start
  std::string congestion;  // TCP's
  bool dynamic = false;    // rates have changed meanwhile
  std::vector<ContenderResult> results;
  std::vector<std::string> left_out;  // peers that are not installed, and what to do
};

// Whom the others are compared with: the last of Banyan's contenders that has a result. nullptr without one.
const ContenderResult* Favourite(const WanReport& report);

std::string WanReportText(const WanReport& report);
// Writes a report for scripts: keys may be added, and those that exist stay. The keys outside of `contenders` are those
// of the favourite.
std::string WanReportJson(const WanReport& report);
// The commands that make gnuplot draw the rates, and the bound.
std::string WanReportGnuplot(const WanReport& report, const std::string& png_path);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_WAN_REPORT_H_
