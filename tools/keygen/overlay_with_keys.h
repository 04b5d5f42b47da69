// Writes public keys into the text of an overlay, and leaves all else in it as it is. Pure functions.
#ifndef BANYAN_TOOLS_KEYGEN_OVERLAY_WITH_KEYS_H_
#define BANYAN_TOOLS_KEYGEN_OVERLAY_WITH_KEYS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

struct JobPublicKeys {
  std::string scheduler;
  std::map<std::string, std::string> nodes;  // by name, of all
  std::string operator_key;
  std::string observer_key;
};

// Returns `text`, an overlay without keys called `file_name`, with `keys` in it, and one operator and one observer of
// these names. FAILED_PRECONDITION when it has keys already; other errors are those of the overlay itself.
absl::StatusOr<std::string> WithPublicKeys(absl::string_view text, const std::string& file_name,
                                           const JobPublicKeys& keys);

}  // namespace banyan

#endif  // BANYAN_TOOLS_KEYGEN_OVERLAY_WITH_KEYS_H_
