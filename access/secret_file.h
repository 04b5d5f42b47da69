// Reading of small files that nobody but their owner may read. Pure but for the files.
#ifndef BANYAN_ACCESS_SECRET_FILE_H_
#define BANYAN_ACCESS_SECRET_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// Returns the text of the file at `path`, which holds `what` ("a secret key"). NOT_FOUND when there is none;
// PERMISSION_DENIED when others than its owner, who is this user or root, may read or write it, unless root hands it to
// a group of this process to read; INVALID_ARGUMENT when it is too long.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path, absl::string_view what);

// Returns the token that the file at `path` consists of, for whoever asks over HTTP. INVALID_ARGUMENT when it is none:
// 16 to 512 letters, digits and - . _ ~ + / = (RFC 6750, section 2.1).
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

}  // namespace banyan

#endif  // BANYAN_ACCESS_SECRET_FILE_H_
