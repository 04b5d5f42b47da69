// What the headers of a request say: whom it is for, from whose page it comes, and whether it gives a token. Pure
// functions.
#ifndef BANYAN_RUNTIME_HTTP_REQUEST_CHECKS_H_
#define BANYAN_RUNTIME_HTTP_REQUEST_CHECKS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace banyan {

// Tells if a Host header, such as "127.0.0.1:80", names an address or this machine itself. A web page of a foreign site
// reaches a server on loopback under the name of its own site, when that is made to resolve to 127.0.0.1; not so.
bool IsAddressOrLocalhost(absl::string_view host);

// Tells if it names one of `hosts`, which have no port.
bool IsAmong(absl::string_view host, const std::vector<std::string>& hosts);

// Tells if `origin`, the header that browsers add to a post, names a page of the server that `host` names, or of one of
// `hosts`, as a proxy in front of this server has it. Programs add none, and it is empty.
bool IsSameOrigin(absl::string_view origin, absl::string_view host, const std::vector<std::string>& hosts = {});

// Returns whether both are the same. The time that it takes tells of their lengths, and of nothing else.
bool IsSameSecret(absl::string_view a, absl::string_view b);

// Returns whether `authorization`, the value of that header, gives the token: as programs do (Bearer, RFC 6750, section
// 2.1), or as a browser does whose user has typed it as the password of any name (Basic, RFC 7617).
bool GivesToken(absl::string_view authorization, absl::string_view token);

// The same of programs and scripts alone: a browser adds no Bearer to what a foreign page makes it send.
bool GivesBearerToken(absl::string_view authorization, absl::string_view token);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_HTTP_REQUEST_CHECKS_H_
