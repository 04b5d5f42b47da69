// Opens a page in the user's browser. Function.
#ifndef BANYAN_TOOLS_DEMO_BROWSER_H_
#define BANYAN_TOOLS_DEMO_BROWSER_H_

#include <string>

#include "absl/status/status.h"

namespace banyan {

// Starts the desktop's browser (xdg-open), and does not wait for it. NOT_FOUND where there is no such program.
absl::Status OpenBrowser(const std::string& url);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_BROWSER_H_
