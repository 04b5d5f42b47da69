#include "runtime/local_updates/local_actions.h"

namespace banyan {

void LocalActions::Add(int64_t step) {
  const auto& [sync_every, fragments, delay, site_every] = schedule_;
  if (site_every > 0 && step % site_every == 0) due_.push_back({LocalAction::Kind::kSiteMean});
  for (int64_t i = 0; i < fragments; ++i) {
    const int64_t offset = i * sync_every / fragments;
    const auto fragment = static_cast<size_t>(i);
    if (delay > 0 && step > delay && (step - delay) % sync_every == offset) {
      due_.push_back({LocalAction::Kind::kFinish, fragment});
    }
    if (step % sync_every != offset) continue;
    due_.push_back({LocalAction::Kind::kStart, fragment});
    if (delay == 0) due_.push_back({LocalAction::Kind::kFinish, fragment});
  }
}

}  // namespace banyan
