// Finds addresses that nodes advertise and that cannot be right, before anybody waits for somebody there. Pure
// functions; names are not looked up.
#ifndef BANYAN_SCHEDULER_MEMBERS_ADDRESS_CHECK_H_
#define BANYAN_SCHEDULER_MEMBERS_ADDRESS_CHECK_H_

#include <string>

#include "proto/scheduler_messages.h"
#include "scheduler/members/membership.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Returns what is wrong with the address that `join` advertises, and what to do; empty when nothing is. `host` is where
// the join comes from, a number, or empty when that is not known. `members` and `overlay` are those of the job.
//
// An address that leads each machine to itself is wrong where the join comes from another machine and the overlay has
// another address for the node. An address that another member or a scheduler has is wrong in any case.
std::string AddressFault(const Join& join, const std::string& host, const Membership& members,
                         const OverlayConfig& overlay);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_ADDRESS_CHECK_H_
