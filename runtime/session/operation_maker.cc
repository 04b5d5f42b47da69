#include "runtime/session/operation_maker.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {

std::shared_ptr<Operation> OperationMaker::Make(absl::string_view what, TensorView result, Operation::Callback on_done,
                                                const std::string& key) const {
  // A forked child has no thread for callbacks.
  Operation::Callback post = on_done;
  if (on_done && process_.IsHere()) {
    post = [callbacks = callbacks_, on_done = std::move(on_done)](const absl::Status& status) {
      callbacks->Post([on_done, status] { on_done(status); });
    };
  }
  const auto operation =
      std::make_shared<Operation>(absl::StrCat("node ", node_name_, ", ", what), result, std::move(post));
  WaitAsker::Serve(asker_, operation, key);
  return operation;
}

std::shared_ptr<Operation> OperationMaker::MakeForKey(absl::string_view key, TensorView result,
                                                      Operation::Callback on_done) const {
  return Make(absl::StrCat("key ", key), result, std::move(on_done), std::string(key));
}

}  // namespace banyan
