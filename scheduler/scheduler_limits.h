// The named limits of the scheduler's tables. They and the overlay's size bound all memory that a peer can make it use.
#ifndef BANYAN_SCHEDULER_SCHEDULER_LIMITS_H_
#define BANYAN_SCHEDULER_SCHEDULER_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace banyan {

inline constexpr size_t kMaxKeys = 65536;
// The tensors in groups, of all keys together.
inline constexpr size_t kMaxGroupedTensors = size_t{1} << 20;
inline constexpr size_t kMaxKeyNameBytes = 256;
inline constexpr int64_t kMaxKeyElements = int64_t{1} << 40;
inline constexpr size_t kMaxAddressBytes = 256;
// A longer reason that a peer gives is cut.
inline constexpr size_t kMaxReasonBytes = 512;
inline constexpr size_t kMaxWaitingForNames = 16;
// The keys that nodes have asked for before the start, each shape of a name for itself; how often they have, of all
// nodes and keys together; and the tensors in groups.
inline constexpr size_t kMaxWaitingKeys = size_t{1} << 18;
inline constexpr size_t kMaxWaitingAskers = size_t{1} << 24;
inline constexpr size_t kMaxWaitingTensors = size_t{1} << 22;
// The open rounds of one key, from the oldest that is not closed everywhere to the newest that is bound. Requests
// beyond wait. With long leases or many rounds in flight the limit is kOpenWindowFactor times their sum.
inline constexpr uint64_t kMinOpenWindowRounds = 64;
inline constexpr uint64_t kOpenWindowFactor = 4;
// The requests that wait until older rounds of their key are closed.
inline constexpr size_t kMaxParkedRequests = size_t{1} << 18;
// The messages that wait for a record to be durable.
inline constexpr size_t kMaxHeldMessages = size_t{1} << 18;
inline constexpr size_t kMaxHeldBytes = size_t{1} << 30;
// A record that is not durable after this time is told of: the storage is slow or stands.
inline constexpr absl::Duration kStorageStandsAfter = absl::Seconds(3);
// The policies that govern open rounds. At the limit no other one is made until rounds have closed. It lies below what
// nodes keep (PolicyTable::kMostPolicies): they hear of a new policy before they hear that older ones are retired.
inline constexpr size_t kMostLivePolicies = 48;
// A longer name of a reconfiguration's file is cut.
inline constexpr size_t kMaxFileNameBytes = 256;
// The largest count in a report: what every reader of JSON keeps. Nothing that a node counts comes near it.
inline constexpr uint64_t kMaxReportCount = uint64_t{1} << 53;
// The rows of memory in one node's report.
inline constexpr size_t kMaxReportMemoryRows = 64;
inline constexpr size_t kMaxReportNameBytes = 64;
// At most this many lines about rejected messages are logged in an interval. The others are counted.
inline constexpr int kMaxRejectionLines = 10;
// So many different ones are known again when they come again.
inline constexpr size_t kMostRejectionsKept = 256;
inline constexpr absl::Duration kRejectionLineInterval = absl::Seconds(10);
// A member whose connection went down has at least this long to join again.
inline constexpr absl::Duration kLeastSuspectAfter = absl::Seconds(1);
// The starts of one node that wait to become a member.
inline constexpr size_t kMostWaitingStarts = 8;
// A change of membership waits this long for others, so that a thousand joining nodes cost a few broadcasts.
inline constexpr absl::Duration kMembershipBatch = absl::Milliseconds(50);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_SCHEDULER_LIMITS_H_
