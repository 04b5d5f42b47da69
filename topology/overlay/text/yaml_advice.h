// Says in Banyan's own words why a YAML parser gave up. Pure function.
#ifndef BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_ADVICE_H_
#define BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_ADVICE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

// What is wrong at `line` and `column` (from 1) of `text`, and what to do. `theirs` is yaml-cpp's message, which only
// chooses among the advices.
std::string YamlAdvice(absl::string_view text, int line, int column, absl::string_view theirs);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_ADVICE_H_
