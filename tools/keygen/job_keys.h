// Makes the keys of a whole job, and writes them into its overlay. Functions.
#ifndef BANYAN_TOOLS_KEYGEN_JOB_KEYS_H_
#define BANYAN_TOOLS_KEYGEN_JOB_KEYS_H_

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
// these names; all else stays as it is. Pure. FAILED_PRECONDITION when it has keys already; other errors are those of
// the overlay itself.
absl::StatusOr<std::string> WithPublicKeys(absl::string_view text, const std::string& file_name,
                                           const JobPublicKeys& keys);

// Whose files those are that belong to no node.
inline constexpr char kSchedulerKeyOwner[] = "scheduler";
inline constexpr char kOperatorKeyOwner[] = "operator";
inline constexpr char kObserverKeyOwner[] = "observer";

// Writes OWNER.key into `folder`, made where there is none, for the scheduler, an operator, an observer and each node
// of the overlay `text`, which is called `file_name`, and overlay.yaml, which lists them. Returns the path of that.
// After an error nothing of it is there; ALREADY_EXISTS names each file that is in the way.
absl::StatusOr<std::string> MakeJobKeys(absl::string_view text, const std::string& file_name,
                                        const std::string& folder);

}  // namespace banyan

#endif  // BANYAN_TOOLS_KEYGEN_JOB_KEYS_H_
