// The named limits of the scheduler's tables: what a peer can make it keep is bounded by these and by the overlay's
// size.
#ifndef BANYAN_SCHEDULER_SCHEDULER_LIMITS_H_
#define BANYAN_SCHEDULER_SCHEDULER_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace banyan {

inline constexpr size_t kMaxKeys = 65536;
inline constexpr size_t kMaxKeyNameBytes = 256;
inline constexpr int64_t kMaxKeyElements = int64_t{1} << 40;
inline constexpr size_t kMaxAddressBytes = 256;
// What is kept and passed on of a reason that a peer gives.
inline constexpr size_t kMaxReasonBytes = 512;
inline constexpr size_t kMaxWaitingForNames = 16;
// Keys that nodes have asked for before the start, summed over nodes.
inline constexpr size_t kMaxWaitingKeys = size_t{1} << 20;
// Rounds of one key between the oldest that is not closed everywhere and the newest that is bound; requests beyond
// wait. With long leases or many rounds in flight the limit is kOpenWindowFactor times their sum.
inline constexpr uint64_t kMinOpenWindowRounds = 64;
inline constexpr uint64_t kOpenWindowFactor = 4;
// Requests that wait for the window of their key to move.
inline constexpr size_t kMaxParkedRequests = size_t{1} << 18;
// Messages that wait for a record to be durable.
inline constexpr size_t kMaxHeldMessages = size_t{1} << 18;
// Policies that still govern rounds. Nodes keep up to 64 (PolicyBook::kMostPolicies), and hear of one more before they
// hear that older ones are retired; at the limit no new policy is made until rounds have closed.
inline constexpr size_t kMostLivePolicies = 48;
// What is kept of a file's name in a reconfiguration.
inline constexpr size_t kMaxFileNameBytes = 256;
// Rows of memory in one node's report.
inline constexpr size_t kMaxReportMemoryRows = 64;
inline constexpr size_t kMaxReportNameBytes = 64;
// Lines about rejected messages: at most this many in an interval, the rest is counted.
inline constexpr int kMaxRejectionLines = 10;
inline constexpr absl::Duration kRejectionLineInterval = absl::Seconds(10);
// How long a change of membership waits for others, so that a thousand joining nodes cost a few broadcasts.
inline constexpr absl::Duration kMembershipBatch = absl::Milliseconds(50);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_SCHEDULER_LIMITS_H_
