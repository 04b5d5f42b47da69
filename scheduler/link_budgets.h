// Which part of the time that a user gives a round (`controller: budget`) each link of a policy may take, so that the
// round as a whole takes no longer: half of it for the way up, half for the way down, each shared between the links of
// every tree as compression/control/budget_share.h says. Pure function.
#ifndef BANYAN_SCHEDULER_LINK_BUDGETS_H_
#define BANYAN_SCHEDULER_LINK_BUDGETS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/types/span.h"
#include "core/ids.h"
#include "proto/compression_config.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// By the ends of a link, in (0, 1]; links without an entry have 1.
using LinkBudgets = std::map<std::pair<NodeId, NodeId>, double>;

// Empty when no rule has a budget; of several rules the first one's is shared, the others have the same parts of
// theirs. A link that several trees use has the least of what they leave it. `tensor_elements` are those of the job,
// empty while they are not known: then all links are taken to be too slow for them. REQUIRES: the policy is valid for
// the view.
LinkBudgets MakeLinkBudgets(const Policy& policy, const NetworkView& view, const CompressionConfig& compression,
                            absl::Span<const int64_t> tensor_elements);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_LINK_BUDGETS_H_
