// Whom a request says that it is for. Pure functions.
#ifndef BANYAN_RUNTIME_HTTP_HTTP_HOST_H_
#define BANYAN_RUNTIME_HTTP_HTTP_HOST_H_

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

}  // namespace banyan

#endif  // BANYAN_RUNTIME_HTTP_HTTP_HOST_H_
