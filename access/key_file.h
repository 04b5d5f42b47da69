// Key pairs of CURVE (rfc.zeromq.org/spec/26), and files of secret keys: lines of `field: value`, readable by their
// owner alone. Values; pure functions but for the files.
#ifndef BANYAN_ACCESS_KEY_FILE_H_
#define BANYAN_ACCESS_KEY_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// As text of 40 characters each (Z85).
struct CurveKeys {
  std::string public_key;
  std::string secret_key;
};

// Makes a new pair, from the system's random numbers.
CurveKeys MakeCurveKeys();

// Returns the public key of a secret one. INVALID_ARGUMENT when it has not the form of a key.
absl::StatusOr<std::string> PublicKeyOf(const std::string& secret_key);

// Returns the key as text of its 32 bytes; empty for another number of bytes.
std::string KeyText(absl::string_view bytes);

struct KeyFile {
  CurveKeys keys;
  std::vector<std::string> scheduler_keys;  // public ones, of which the schedulers of the job have one
};

// Reads the text of a key file called `name` in messages. INVALID_ARGUMENT names the line and what it should be.
absl::StatusOr<KeyFile> ParseKeyFile(absl::string_view text, const std::string& name);
// Returns the text of the key file of `owner`.
std::string KeyFileText(const KeyFile& file, const std::string& owner);

// Reads the file at `path`. NOT_FOUND when there is none; PERMISSION_DENIED when others than its owner, who is this
// user or root, may read or write it.
absl::StatusOr<KeyFile> ReadKeyFile(const std::string& path);
// Writes a new file that only this user can read. ALREADY_EXISTS when something is there: a secret key is not made
// again.
absl::Status WriteKeyFile(const std::string& path, const KeyFile& file, const std::string& owner);

// Returns the first of `folders` that has the key of `owner`, as FOLDER/owner.key; empty when none has.
std::string FindKeyFile(const std::vector<std::string>& folders, const std::string& owner);

}  // namespace banyan

#endif  // BANYAN_ACCESS_KEY_FILE_H_
