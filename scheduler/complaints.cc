#include "scheduler/complaints.h"

#include "absl/strings/str_cat.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {

std::string DescribeComplaint(absl::string_view node, absl::string_view peer, const PeerLost& lost) {
  return absl::StrCat(node, " has lost its neighbour ", peer, ": ", PrintableText(lost.reason, kMaxReasonBytes));
}

std::string DescribeComplaint(absl::string_view node, const WorkerLost& lost) {
  return absl::StrCat("worker ", lost.worker.value(), " of ", node,
                      " is lost: ", PrintableText(lost.reason, kMaxReasonBytes));
}

std::string DescribeComplaint(absl::string_view node, const CannotFollow& cannot) {
  return absl::StrCat(node, " cannot go on: ", PrintableText(cannot.reason, kMaxReasonBytes));
}

std::string DescribeComplaint(absl::string_view node, absl::string_view key, absl::string_view culprit,
                              const RoundBroken& broken) {
  return absl::StrCat(node, " cannot finish round ", broken.round.value(), " of key '", key, "': ", culprit,
                      culprit.empty() ? "" : ": ", PrintableText(broken.reason, kMaxReasonBytes));
}

}  // namespace banyan
