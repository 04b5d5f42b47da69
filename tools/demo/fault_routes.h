// How a demo is broken over HTTP: the paths below /api/faults. Functions.
#ifndef BANYAN_TOOLS_DEMO_FAULT_ROUTES_H_
#define BANYAN_TOOLS_DEMO_FAULT_ROUTES_H_

#include <functional>
#include <vector>

#include "runtime/http/http_route.h"
#include "tools/demo/fault_desk.h"
#include "tools/page/operator_routes.h"

namespace banyan {

// Returns the paths, whose answers are JSON: `accepted` and `text`. /api/faults tells whether there are links that can
// be cut. By POST of an operator of `access`: `kill` takes a node's name; `cut` and `traffic` take the two ends of a
// link, with a space between. `give` takes what was asked for, on the server's thread.
std::vector<HttpRoute> FaultRoutes(const PageAccess& access, bool has_links,
                                   const std::function<void(FaultRequest request)>& give);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_FAULT_ROUTES_H_
