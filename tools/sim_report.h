// What `banyan sim` prints. Pure functions.
#ifndef BANYAN_TOOLS_SIM_REPORT_H_
#define BANYAN_TOOLS_SIM_REPORT_H_

#include <string>

#include "sim/simulation.h"
#include "topology/network_view.h"

namespace banyan {

std::string SimText(const SimulationReport& report, const NetworkView& view);
// Stable: design, section 6.
std::string SimJson(const SimulationReport& report, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOOLS_SIM_REPORT_H_
