// Puts into words what nodes complain of; what they give as a reason is a peer's text. Pure functions.
#ifndef BANYAN_SCHEDULER_COMPLAINTS_H_
#define BANYAN_SCHEDULER_COMPLAINTS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// Says that `node` has lost its neighbour `peer`.
std::string DescribeComplaint(absl::string_view node, absl::string_view peer, const PeerLost& lost);
// Says that a worker of `node` is lost.
std::string DescribeComplaint(absl::string_view node, const WorkerLost& lost);
std::string DescribeComplaint(absl::string_view node, const CannotFollow& cannot);
// Says that `node` cannot finish a round of `key`. `culprit` is the node that broke it, empty when it is no single
// node's doing.
std::string DescribeComplaint(absl::string_view node, absl::string_view key, absl::string_view culprit,
                              const RoundBroken& broken);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_COMPLAINTS_H_
