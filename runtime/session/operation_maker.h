// Makes a session's operations: names them for their errors, runs their callbacks on a thread of the session, and lets
// their time-outs say for whom they wait. Thread-safe but for set_node_name, which comes first.
#ifndef BANYAN_RUNTIME_SESSION_OPERATION_MAKER_H_
#define BANYAN_RUNTIME_SESSION_OPERATION_MAKER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/tensor_view.h"
#include "posix/home_process.h"
#include "runtime/session/callback_thread.h"
#include "runtime/session/operation.h"
#include "runtime/session/wait_asker.h"

namespace banyan {

class OperationMaker {
 public:
  explicit OperationMaker(WaitAsker::Ask ask) : asker_(std::make_shared<WaitAsker>(std::move(ask))) {}

  void set_node_name(std::string name) { node_name_ = std::move(name); }
  const std::string& node_name() const { return node_name_; }
  // That of the session.
  const HomeProcess& process() const { return process_; }

  // Makes an operation on `what` whose waits are those of `key`; empty when it concerns none.
  std::shared_ptr<Operation> Make(absl::string_view what, TensorView result = {}, Operation::Callback on_done = {},
                                  const std::string& key = "") const;
  std::shared_ptr<Operation> MakeForKey(absl::string_view key, TensorView result = {},
                                        Operation::Callback on_done = {}) const;
  // Lets an operation made elsewhere ask for whom it waits.
  void LetAsk(const std::shared_ptr<Operation>& operation) const { WaitAsker::Serve(asker_, operation, ""); }

  // Nothing is asked any more when it returns.
  void StopAsking() { asker_->Close(); }
  // Returns when the last callback has run. REQUIRES: no callback calls this. Idempotent.
  void StopCallbacks() { callbacks_->Stop(); }

 private:
  const HomeProcess process_;
  std::string node_name_;
  const std::shared_ptr<CallbackThread> callbacks_ = std::make_shared<CallbackThread>();  // shared with operations
  const std::shared_ptr<WaitAsker> asker_;                                                // likewise
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_OPERATION_MAKER_H_
