// Says in Banyan's own words why a YAML parser gave up. Pure function.
#ifndef BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_ADVICE_H_
#define BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_ADVICE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "topology/overlay/text/file_place.h"

namespace banyan {

// What is wrong at `place` of `text`, and what to do. `theirs` is yaml-cpp's message, which only
// chooses among the advices.
std::string YamlAdvice(absl::string_view text, FilePlace place, absl::string_view theirs);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_ADVICE_H_
