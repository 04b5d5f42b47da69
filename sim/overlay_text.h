// An overlay as the text of its file: what a simulated operator sends to change a running job. Pure function.
#ifndef BANYAN_SIM_OVERLAY_TEXT_H_
#define BANYAN_SIM_OVERLAY_TEXT_H_

#include <string>

#include "topology/overlay/overlay_config.h"

namespace banyan {

// Everything but custom trees and public keys; ParseOverlay reads it back.
std::string WriteOverlay(const OverlayConfig& overlay);

}  // namespace banyan

#endif  // BANYAN_SIM_OVERLAY_TEXT_H_
