// Reads the punctuation of a YAML text: quotes, brackets, spaces that only look like spaces. What a parser calls an
// unexpected token is here the bracket that was never closed. Pure functions.
#ifndef BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_SCAN_H_
#define BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_SCAN_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "topology/overlay/text/yaml_text.h"

namespace banyan {

struct YamlScanResult {
  // Wrong in any YAML, or not what anybody meant: a tab that indents, a quote that never ends, a no-break space.
  std::optional<YamlFault> wrong;
  // The reason when a parser refuses the text: brackets that do not match, or that stand in the middle of a word.
  std::optional<YamlFault> suspect;
};

// Takes a text from PlainYamlText. Finds the first fault of each sort.
YamlScanResult ScanYaml(absl::string_view text);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_SCAN_H_
