// Reads the files that `precision` of an overlay names. Pure but for the reading.
#ifndef BANYAN_TOOLS_DAEMON_PRECISION_LOADING_H_
#define BANYAN_TOOLS_DAEMON_PRECISION_LOADING_H_

#include <optional>

#include "absl/status/statusor.h"
#include "scheduler/precision/precision_files.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Returns what the files say, which are looked for beside the overlay; nothing where it names none. An error names the
// file, and what is wrong in it or does not suit the job.
absl::StatusOr<std::optional<PrecisionFiles>> LoadPrecision(const OverlayConfig& overlay);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_PRECISION_LOADING_H_
