// Turns the record of a policy to and from Protobuf, and what other records share with them. Part of state_record.h,
// which is what others use. Pure functions.
#ifndef BANYAN_SCHEDULER_STATE_POLICY_RECORD_WIRE_H_
#define BANYAN_SCHEDULER_STATE_POLICY_RECORD_WIRE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scheduler/state/policy_record.h"
#include "scheduler/state/state_record.pb.h"

namespace banyan {

// The error of a record whose bytes are wrong, DATA_LOSS.
absl::Status Malformed(absl::string_view what);

void FillOverlay(const OverlayText& overlay, state::Overlay& filled);

void FillPolicy(const PolicyRecord& record, state::Policy& filled);
absl::StatusOr<PolicyRecord> ReadPolicy(const state::Policy& from);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_POLICY_RECORD_WIRE_H_
