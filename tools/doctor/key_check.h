// Looks at the key of a site's daemon: is it there, and is it that which the overlay lists? A function; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_KEY_CHECK_H_
#define BANYAN_TOOLS_DOCTOR_KEY_CHECK_H_

#include <string>
#include <vector>

#include "tools/doctor/check_result.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// `site` is a node's name, or that of the scheduler; `folders` are those in which its daemon looks for the key.
CheckResult CheckKey(const OverlayConfig& overlay, const std::string& site, const std::vector<std::string>& folders);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_KEY_CHECK_H_
