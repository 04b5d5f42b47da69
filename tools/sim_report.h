// What `banyan sim` prints. Pure functions.
#ifndef BANYAN_TOOLS_SIM_REPORT_H_
#define BANYAN_TOOLS_SIM_REPORT_H_

#include <string>

#include "sim/simulation.h"
#include "topology/network_view.h"

namespace banyan {

// Writes a report for a reader.
std::string SimText(const SimulationReport& report, const NetworkView& view);
// Writes a report for scripts: keys may be added, and those that exist stay.
std::string SimJson(const SimulationReport& report, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOOLS_SIM_REPORT_H_
