// What the doctors of all sites have found, in one view: a row for each path and its direction, a line for each fault.
// A value and pure functions; thread-compatible.
#ifndef BANYAN_TOOLS_DOCTOR_WHOLE_VIEW_H_
#define BANYAN_TOOLS_DOCTOR_WHOLE_VIEW_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/json_writer.h"
#include "tools/doctor/site_report.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

struct WholeView {
  std::string collector;                                   // whose doctor has collected the reports
  std::vector<std::string> sites;                          // that are to report
  std::vector<std::pair<std::string, std::string>> paths;  // from one site to another, as the overlay needs them
  std::map<std::string, CheckResults> reports;             // by site; of the collector, too
};

struct WholeFault {
  std::string where;  // a site, or two with an arrow for the direction
  std::string what;   // the check's name without the other site
  std::string text;   // what was found, and what to do
};

// Makes the view of `collector`, a scheduler of the overlay: its own report and those of the nodes are in `reports`.
// REQUIRES: ValidateForJob takes `overlay`.
WholeView MakeWholeView(const OverlayConfig& overlay, const std::string& collector,
                        std::map<std::string, CheckResults> reports);
// Returns the sites that have not reported.
std::vector<std::string> MissingSites(const WholeView& view);
// Returns what is to fix, each fault once: one that both ends of a path have found is told by one, and one of a site
// that is not there by the collector alone.
std::vector<WholeFault> FindFaults(const WholeView& view);

// The view as a table and lines of faults to read. A value that nobody has reported is a "?", one that was not looked
// at a "-".
std::string FormatView(const WholeView& view);
// Likewise as JSON: ok, missing [site], paths [{from, to, ok, reach, round_trip, ...}], faults [{where, what, text}],
// sites [{name, checks: as those of one site}].
std::string ViewJson(const WholeView& view);
// Writes the checks of one site: [{name, ok, text}].
void WriteChecks(const CheckResults& checks, JsonWriter& json);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_WHOLE_VIEW_H_
