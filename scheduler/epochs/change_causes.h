// Collects why membership must change: who falls out, and what else makes a new epoch. Causes that come within
// kMembershipBatch of the first are one change. Time is handed in. Thread-compatible; owned by EpochChanger.
#ifndef BANYAN_SCHEDULER_EPOCHS_CHANGE_CAUSES_H_
#define BANYAN_SCHEDULER_EPOCHS_CHANGE_CAUSES_H_

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/time.h"

namespace banyan {

class ChangeCauses {
 public:
  struct Causes {
    Timestamp since;  // of the first
    std::set<NodeId> fallen;
    std::vector<std::string> reasons;  // in the order in which they came, each once

    // One text for logs, nodes and operators.
    std::string Describe() const;
  };

  // Notes that the member is gone because of `why`.
  void FallOut(Timestamp now, NodeId node, const std::string& why);
  // Notes another reason, which makes nobody fall out.
  void Add(Timestamp now, const std::string& why);

  bool IsFalling(NodeId node) const { return causes_.has_value() && causes_->fallen.count(node) > 0; }
  // When Take has causes to give; kNever without one.
  Timestamp NextDeadline() const;
  // Returns all causes when they are due.
  std::optional<Causes> Take(Timestamp now);
  // Returns all causes now.
  std::optional<Causes> TakeAll() { return std::exchange(causes_, std::nullopt); }
  void Clear() { causes_.reset(); }

 private:
  std::optional<Causes> causes_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_CHANGE_CAUSES_H_
