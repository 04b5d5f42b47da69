#include "scheduler/rounds/round_announcer.h"

#include <utility>

#include "core/check.h"
#include "proto/message_parts.h"

namespace banyan {

void RoundAnnouncer::Reject(NodeId node, const RoundOutcome& outcome) {
  for (const std::string& what : outcome.rejections) members_->Reject(node, what);
}

void RoundAnnouncer::Announce(NodeId node, RoundOutcome outcome) {
  BANYAN_CHECK(outcome.failure.ok());
  if (!outcome.closed.empty()) {
    // Whoever hears of it does not report it again, so a restarted scheduler must know it too.
    context_->Persist(ClosedRecord{outcome.closed});
    SendInParts(std::move(outcome.closed), [&](std::vector<ClosedEverywhere::Entry> part) {
      members_->Broadcast(ClosedEverywhere{job_->term(), std::move(part)});
    });
  }
  SendClosed(node, std::move(outcome.closed_before));
  if (!outcome.new_bindings.empty()) context_->Persist(BindingsRecord{std::move(outcome.new_bindings)});
  for (RoundOutcome::Answer& answer : outcome.answers) {
    SendInParts(std::move(answer.bindings), [&](std::vector<PolicyAnswer::Binding> part) {
      members_->SendTo(answer.node, PolicyAnswer{job_->term(), job_->epoch(), std::move(part)});
    });
  }
}

void RoundAnnouncer::SendClosed(NodeId node, std::vector<ClosedEverywhere::Entry> rounds) {
  SendInParts(std::move(rounds), [&](std::vector<ClosedEverywhere::Entry> part) {
    members_->SendTo(node, ClosedEverywhere{job_->term(), std::move(part)});
  });
}

}  // namespace banyan
