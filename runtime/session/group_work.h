// The operations on parts of a group that end together, as one operation on the whole group does. Thread-compatible.
#ifndef BANYAN_RUNTIME_SESSION_GROUP_WORK_H_
#define BANYAN_RUNTIME_SESSION_GROUP_WORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/tensor_view.h"
#include "runtime/session/operation.h"

namespace banyan {

struct GroupWork {
  // Where a part of the group's result goes.
  struct Target {
    int64_t first = 0;  // element of the group
    TensorView values;
    size_t operation = 0;  // whose result it is, in `operations`
  };

  std::vector<std::shared_ptr<Operation>> operations;  // shared with the callers' tickets
  std::vector<Target> targets;

  // Copies the result of `whole` to its targets if `status` is OK. Ends the operations with it, in the round of
  // `whole`.
  void Finish(const Operation& whole, const absl::Status& status) const;
};

// Returns an operation on a whole group that no ticket has. `done` runs with it at its end, on the thread that ends it;
// a shared result is there until then or until somebody abandons the operation.
std::shared_ptr<Operation> MakeWholeOperation(std::function<void(Operation& whole, const absl::Status&)> done);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_GROUP_WORK_H_
