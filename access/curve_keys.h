// Key pairs of CURVE (rfc.zeromq.org/spec/26), as text of 40 characters each (Z85). Values; pure functions.
#ifndef BANYAN_ACCESS_CURVE_KEYS_H_
#define BANYAN_ACCESS_CURVE_KEYS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_ACCESS_CURVE_KEYS_H_
