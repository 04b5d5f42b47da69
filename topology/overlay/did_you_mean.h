// Finds what a user probably meant by a misspelt word. Pure functions.
#ifndef BANYAN_TOPOLOGY_OVERLAY_DID_YOU_MEAN_H_
#define BANYAN_TOPOLOGY_OVERLAY_DID_YOU_MEAN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace banyan {

// Fewest insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
size_t EditDistance(absl::string_view a, absl::string_view b);

// Tells if `word` may be `known` misspelt: few edits away, in other case, or without its last part ("delay" for
// "delay_ms").
bool IsClose(absl::string_view word, absl::string_view known);

// "; did you mean 'links'?" for the closest of the known words if it is close, else "; known are a, b, c" as long as
// they are few, else nothing.
std::string DidYouMean(absl::string_view word, const std::vector<std::string>& known);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_DID_YOU_MEAN_H_
