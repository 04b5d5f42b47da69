// The computations that a core has handed to its driver, each with what is to be done when it has finished.
// Thread-compatible; owned by NodeCore.
#ifndef BANYAN_NODE_COMPUTATION_TABLE_H_
#define BANYAN_NODE_COMPUTATION_TABLE_H_

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "core/ids.h"
#include "node/step_context.h"
#include "protocol/action.h"
#include "protocol/computation.h"

namespace banyan {

class ComputationTable {
 public:
  // `then` gets the finished computation. `Work` is a subclass of Computation.
  template <typename Work>
  void Start(StepContext& step, std::unique_ptr<Work> work, std::function<void(StepContext&, Work&)> then) {
    const ComputationId id = next_;
    next_ = next_.Next();
    running_.emplace(
        id, [then = std::move(then)](StepContext& later, Computation& done) { then(later, static_cast<Work&>(done)); });
    step.actions.emplace_back(std::in_place_type<StartComputation>, StartComputation{id, std::move(work)});
  }

  void OnFinished(StepContext& step, ComputationId id, std::unique_ptr<Computation> done) {
    auto entry = running_.extract(id);
    if (!entry.empty()) entry.mapped()(step, *done);
  }

  // What still runs will have no effect.
  void Clear() { running_.clear(); }

 private:
  ComputationId next_ = ComputationId(1);
  std::map<ComputationId, std::function<void(StepContext&, Computation&)>> running_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_COMPUTATION_TABLE_H_
