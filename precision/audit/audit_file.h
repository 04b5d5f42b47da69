// An audit as one JSON object, and as the file of a run.
#ifndef BANYAN_PRECISION_AUDIT_AUDIT_FILE_H_
#define BANYAN_PRECISION_AUDIT_AUDIT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "precision/audit/route_audit.h"
#include "precision/control/precision_controller.h"

namespace banyan {

// Names the profile, the settings and what the controls did, then the counts of all keys and of each.
std::string AuditJson(const RouteAudit& audit, const PrecisionController& controller);

// Writes `text`, such as an audit, to the file `path`, in place of what stood there. UNAVAILABLE where that does not
// work, and says why.
absl::Status WriteRunFile(const std::string& path, const std::string& text);

}  // namespace banyan

#endif  // BANYAN_PRECISION_AUDIT_AUDIT_FILE_H_
