// Where this node stands among the epochs of its job. Thread-compatible; owned by NodeCore.
//
// Invariants:
// - Epochs only rise. Of each epoch one beginning and one plan count, however often they are said.
// - A node is *fresh* under the plan that lets it into a job that runs: until then no policy had named this
//   start of it.
#ifndef BANYAN_NODE_EPOCH_STATE_H_
#define BANYAN_NODE_EPOCH_STATE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/ids.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class EpochState {
 public:
  static constexpr uint32_t kMostPlanParts = 256;

  // Notes that `epoch` has begun; false when it had, or a later one.
  bool Begin(Epoch epoch) {
    if (epoch <= begun_) return false;
    begun_ = epoch;
    return true;
  }
  // Notes the newest epoch, as the scheduler has it.
  void OnMembership(Epoch epoch) { newest_ = std::max(newest_, epoch); }
  // Notes a policy of `epoch` that names this node. One of a former epoch may mean a former start of it.
  void OnPolicy(Epoch epoch) {
    if (first_policy_ == Epoch() && epoch >= std::max(begun_, newest_)) first_policy_ = epoch;
  }
  // Notes that the plan of `epoch` is followed from now on; false when there is nothing new in it. REQUIRES: Begin was
  // called with it.
  bool TakePlan(Epoch epoch) {
    if (epoch < begun_ || epoch <= planned_) return false;
    planned_ = epoch;
    return true;
  }

  // Takes a part of a plan. Returns the plan when that was the last one; an error for a part that does not follow the
  // one before.
  absl::StatusOr<std::optional<EpochPlan>> Join(EpochPlan part) {
    if (part.part == 0) {
      parts_ = std::move(part);
    } else {
      const bool follows = parts_.has_value() && part.epoch == parts_->epoch && part.part == parts_->part + 1;
      if (!follows || part.part >= kMostPlanParts) {
        parts_.reset();
        return absl::InvalidArgumentError(absl::StrCat("part ", part.part, " of the plan of epoch ", part.epoch.value(),
                                                       " came without the parts before, or is one of more than ",
                                                       kMostPlanParts));
      }
      parts_->part = part.part;
      parts_->has_more = part.has_more;
      parts_->frontiers.insert(parts_->frontiers.end(), part.frontiers.begin(), part.frontiers.end());
      parts_->bindings.insert(parts_->bindings.end(), part.bindings.begin(), part.bindings.end());
    }
    if (parts_->has_more) return std::nullopt;
    return std::exchange(parts_, std::nullopt);
  }

  // True before the first epoch.
  bool is_first() const { return begun_ == Epoch(); }
  Epoch begun() const { return begun_; }
  // True from the beginning of an epoch until its plan, but for the first.
  bool is_changing() const { return begun_ > std::max(planned_, first_policy_); }
  // True if the plan of the epoch that has begun last is followed.
  bool has_plan() const { return planned_ == begun_ && begun_ > Epoch(); }
  // True if this node was a member before the epoch that has begun last.
  bool was_member() const { return planned_ > Epoch() || (first_policy_ > Epoch() && first_policy_ < begun_); }
  // True if the plan, which was not taken yet, lets this node into a job that runs.
  bool IsFreshUnder(const EpochPlan& plan) const {
    // Else it is there from the start: the first values are still to be agreed on.
    const bool has_run = std::any_of(plan.frontiers.begin(), plan.frontiers.end(),
                                     [](const auto& frontier) { return frontier.first_open > Round(0); });
    return has_run && !was_member();
  }

 private:
  Epoch begun_;
  Epoch planned_;                   // whose plan was taken last
  Epoch newest_;                    // that was heard of
  Epoch first_policy_;              // of the first policy that named this node
  std::optional<EpochPlan> parts_;  // of a plan, as far as they have come
};

}  // namespace banyan

#endif  // BANYAN_NODE_EPOCH_STATE_H_
