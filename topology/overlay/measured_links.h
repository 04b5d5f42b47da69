// Makes an overlay of measurements as people have them: a table with a row for each link that was measured, of commas,
// semicolons, tabs or spaces between its columns. Pure functions.
//
// A header may name the columns in any order: from, to, mbps, and rtt_ms, delay_ms or ms. Without one they are from,
// to, Mbit/s and, unless it is left out, the milliseconds of a round trip, as ping tells them; `ms` means the same.
// Empty lines and what follows a # do not count.
#ifndef BANYAN_TOPOLOGY_OVERLAY_MEASURED_LINKS_H_
#define BANYAN_TOPOLOGY_OVERLAY_MEASURED_LINKS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// Returns the YAML text of an overlay with the nodes and links of the table. A way that was not measured is taken to be
// as fast as the way back; a link has one delay, the mean of both. INVALID_ARGUMENT, with `file_name` and the line, for
// what is no such table: a number that is none, a name that no node may have, a row of another length, a way that is
// there twice.
absl::StatusOr<std::string> OverlayOfMeasurements(absl::string_view table, absl::string_view file_name);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_MEASURED_LINKS_H_
