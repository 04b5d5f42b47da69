// What each key of overlay.yaml takes and means, in words, for docs/configuration.md and the manual page. Values and a
// function; thread-safe.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_REFERENCE_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_REFERENCE_H_

#include <string>
#include <vector>

namespace banyan {

struct OverlayKeyText {
  std::string path;  // "nodes.name"
  std::string takes;
  std::string value;     // without it; "required" where there is none
  bool is_live = false;  // a reconfiguration takes another
  std::string meaning;
};

// Returns all keys in the order of the file, those of lists under the list's own path.
std::vector<OverlayKeyText> DescribeOverlayKeys();

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_REFERENCE_H_
