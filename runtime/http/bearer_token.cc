#include "runtime/http/bearer_token.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"

namespace banyan {

bool IsSameSecret(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  // Volatile, so that no compiler ends the loop at the first difference.
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference =
        static_cast<unsigned char>(difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return difference == 0;
}

bool GivesToken(absl::string_view authorization, absl::string_view token) {
  const size_t space = authorization.find(' ');
  if (space == absl::string_view::npos) return false;
  const absl::string_view scheme = authorization.substr(0, space);
  const absl::string_view given = absl::StripAsciiWhitespace(authorization.substr(space));
  if (absl::EqualsIgnoreCase(scheme, "bearer")) return IsSameSecret(given, token);
  std::string name_and_password;
  if (!absl::EqualsIgnoreCase(scheme, "basic") || !absl::Base64Unescape(given, &name_and_password)) return false;
  const size_t colon = name_and_password.find(':');
  return colon != std::string::npos && IsSameSecret(absl::string_view(name_and_password).substr(colon + 1), token);
}

}  // namespace banyan
