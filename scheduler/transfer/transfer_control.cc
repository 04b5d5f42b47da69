#include "scheduler/transfer/transfer_control.h"

#include <map>
#include <vector>

#include "scheduler/transfer/holder_paths.h"

namespace banyan {

StateTransfer& TransferControl::transfer() {
  if (transfer_ != nullptr) return *transfer_;
  transfer_ = std::make_unique<StateTransfer>(
      StateTransfer::Settings{parts_.job->term()},
      StateTransfer::Surroundings{[this](NodeId node) { return parts_.members->NameOf(node); },
                                  [this](NodeId from) {
                                    const Policy* policy = parts_.policies->Current();
                                    return policy == nullptr ? std::map<NodeId, std::vector<NodeId>>()
                                                             : PathsFrom(from, *policy);
                                  }});
  OnEpochBegun();
  return *transfer_;
}

void TransferControl::OnEpochBegun() {
  if (transfer_ == nullptr) return;
  const std::vector<NodeId> members = parts_.members->table().Members();
  Apply(transfer_->SetMembers({members.begin(), members.end()}));
}

void TransferControl::Apply(StateTransfer::Outcome outcome) {
  std::string reason;
  for (std::string& line : outcome.log) {
    reason = line;
    parts_.context->LogInfo(std::move(line));
  }
  for (auto& [node, message] : outcome.messages) parts_.members->SendTo(node, std::move(message));
  if (outcome.begins_epoch) begin_epoch_(reason);
}

}  // namespace banyan
