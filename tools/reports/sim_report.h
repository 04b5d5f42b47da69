// The output of `banyan sim`. Pure functions.
#ifndef BANYAN_TOOLS_REPORTS_SIM_REPORT_H_
#define BANYAN_TOOLS_REPORTS_SIM_REPORT_H_

#include <string>

#include "sim/runs/simulation.h"
#include "topology/network_view.h"

namespace banyan {

// Writes a report for a reader.
std::string SimText(const SimulationReport& report, const NetworkView& view);
// Writes a report for scripts: keys may be added, and those that exist stay.
std::string SimJson(const SimulationReport& report, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_SIM_REPORT_H_
