// Advice on upgrades as text and as JSON (`banyan plan --advise`). Pure functions.
#ifndef BANYAN_TOOLS_REPORTS_ADVICE_REPORT_H_
#define BANYAN_TOOLS_REPORTS_ADVICE_REPORT_H_

#include <string>

#include "topology/advice/upgrade_advice.h"
#include "topology/network_view.h"

namespace banyan {

// What binds, what more of it is worth, the three best upgrades, and what is faster than it need be. `model_bits` is
// the size of the model, 0 where it is unknown: then nothing is said of the time of a round.
std::string AdviceText(const UpgradeAdvice& advice, const NetworkView& view, double model_bits);

// One object: rate_mbps, bound_mbps, upgrades (name, mbps, worth, doubled_rate_mbps, and with a model
// seconds_per_mbps and doubled_seconds, of a round), spare (names).
std::string AdviceJson(const UpgradeAdvice& advice, const NetworkView& view, double model_bits);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_ADVICE_REPORT_H_
