// Makes the overlay file of a demo out of one that has only nodes and links. Pure functions.
#ifndef BANYAN_TOOLS_DEMO_DEMO_OVERLAY_H_
#define BANYAN_TOOLS_DEMO_DEMO_OVERLAY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace banyan {

// The overlay that the demo runs on unless told otherwise: deploy/topologies/internet2.yaml, built in.
absl::string_view DefaultDemoOverlay();

// A node of the demo and the training processes beside it.
struct DemoNode {
  std::string name;
  int workers = 1;
};

// The nodes of an overlay, in its order. `file_name` only goes into messages. Fails when the text is no overlay (with
// file and line) or its aggregation is not the mean, which the demo's training counts on.
absl::StatusOr<std::vector<DemoNode>> ReadDemoNodes(absl::string_view text, absl::string_view file_name);

// Returns the overlay `text` with this silence after which a node falls out, and heartbeats to go with it, in place of
// its own. REQUIRES: ReadDemoNodes takes `text`.
std::string FillLostAfter(absl::string_view text, absl::Duration lost_after);

// Returns the silence after which a node of the overlay falls out, as FillAddresses leaves it. REQUIRES: ReadDemoNodes
// takes `text`.
absl::Duration LostAfterOf(absl::string_view text);

// Returns the overlay `text` with these addresses in place of its own. Adds what the text does not say: a name for the
// job, a chunk size for the demo's small model, patience with silent nodes. REQUIRES: ReadDemoNodes takes `text`; an
// address for each node.
std::string FillAddresses(absl::string_view text, const std::string& scheduler_address,
                          const std::vector<std::string>& node_addresses);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_OVERLAY_H_
