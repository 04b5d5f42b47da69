// Asks the node for whom an operation waits, while the session is open. Thread-safe. Shared by a session and its
// operations, which may outlive it.
#ifndef BANYAN_RUNTIME_SESSION_WAIT_ASKER_H_
#define BANYAN_RUNTIME_SESSION_WAIT_ASKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "runtime/session/operation.h"

namespace banyan {

class WaitAsker {
 public:
  // Asks about this worker's calls of a key, none for an empty name, because of one in `round`. `done` takes the
  // answer, on any thread.
  using Ask =
      std::function<void(const std::string& key, uint64_t round, std::function<void(const absl::Status&)> done)>;

  explicit WaitAsker(Ask ask) : ask_(std::move(ask)) {}

  // Lets an operation of the key ask when somebody's time-out for it is near.
  static void Serve(const std::shared_ptr<WaitAsker>& asker, const std::shared_ptr<Operation>& operation,
                    std::string key);
  // Nothing is asked any more when it returns.
  void Close();

 private:
  void AskFor(const std::weak_ptr<Operation>& operation, const std::string& key);

  std::mutex mutex_;
  Ask ask_;  // guarded by mutex_; null once closed
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_WAIT_ASKER_H_
