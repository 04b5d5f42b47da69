// The token that readers of a web server give. Pure functions.
#ifndef BANYAN_RUNTIME_HTTP_BEARER_TOKEN_H_
#define BANYAN_RUNTIME_HTTP_BEARER_TOKEN_H_

#include "absl/strings/string_view.h"

namespace banyan {

// Returns whether both are the same. The time that it takes tells of their lengths, and of nothing else.
bool IsSameSecret(absl::string_view a, absl::string_view b);

// Returns whether `authorization`, the value of that header, gives the token: as programs do (Bearer, RFC 6750, section
// 2.1), or as a browser does whose user has typed it as the password of any name (Basic, RFC 7617).
bool GivesToken(absl::string_view authorization, absl::string_view token);

// The same of programs and scripts alone: a browser adds no Bearer to what a foreign page makes it send.
bool GivesBearerToken(absl::string_view authorization, absl::string_view token);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_HTTP_BEARER_TOKEN_H_
