#include "node/rounds/early_chunks.h"

#include <algorithm>

#include "node/chunk_size.h"
#include "node/step_context.h"

namespace banyan {
namespace {

// However small the model, this many chunks may come early.
constexpr int64_t kLeastEarlyChunks = 64;
// Rounds remembered for a grant. Sources try again without one, only later.
constexpr size_t kMostDeniedRounds = 1024;

}  // namespace

// The scheduler tells all nodes of a key, and of an epoch's plan, at once. A node without the scheduler fails before
// this.
EarlyChunks::EarlyChunks(const JobConfig& config, const PolicyTable* policy_table)
    : policy_table_(policy_table),
      chunk_max_elements_(config.chunk_max_elements),
      unknown_for_(2 * config.scheduler_lost_after),
      has_fixed_bound_(config.early_bytes > 0),
      store_(config.early_bytes) {
  Grow(0);
}

void EarlyChunks::Grow(int64_t grown_bytes) {
  model_bytes_ += grown_bytes;
  if (has_fixed_bound_) return;
  store_.set_capacity_bytes(std::max(model_bytes_, KeptBytes(kLeastEarlyChunks, chunk_max_elements_)));
}

PeerNetwork::Verdict EarlyChunks::Keep(StepContext& step, Epoch planned, ChunkMessage message, Payload payload) {
  const std::pair<KeyId, Round> round{message.id.key, message.id.round};
  if (!store_.HasRoomFor(message, payload)) {
    const Timestamp before = step.now + -unknown_for_;
    const auto is_known = [&](const ChunkId& id) {
      return id.epoch <= planned && policy_table_->FindKey(id.key) != nullptr;
    };
    const size_t dropped = store_.DropUnknown(is_known, before);
    if (dropped > 0) step.rejections.Reject("early chunk", "of a key or an epoch that never came", step.actions);
  }
  if (store_.Keep(std::move(message), std::move(payload), step.now)) return PeerNetwork::Verdict::kTaken;
  if (denied_.size() < kMostDeniedRounds) denied_.insert(round);
  return PeerNetwork::Verdict::kNoRoom;
}

bool EarlyChunks::TakeDenied(KeyId key) {
  bool has_any = false;
  for (auto next = denied_.lower_bound({key, Round(0)}); next != denied_.end() && next->first == key;) {
    const auto denied = next++;
    if (!policy_table_->FindBinding(key, denied->second).has_value()) continue;
    denied_.erase(denied);
    has_any = true;
  }
  return has_any;
}

void EarlyChunks::Clear() {
  model_bytes_ = 0;
  store_.Clear();
  denied_.clear();
}

}  // namespace banyan
