// A worker's connection to a node in the same process. Thread-safe as SessionPort says.
#ifndef BANYAN_RUNTIME_SESSION_LOCAL_PORT_H_
#define BANYAN_RUNTIME_SESSION_LOCAL_PORT_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/session/session_port.h"
#include "runtime/workers/worker_connection.h"

namespace banyan {

class LocalPort : public SessionPort {
 public:
  using MakeConnection = std::function<std::shared_ptr<WorkerConnection>(WorkerConnection::Reply)>;

  explicit LocalPort(const MakeConnection& make);
  ~LocalPort() override;

  void Start(Callbacks callbacks) override;
  absl::Status Send(const WorkerMessage& message) override;
  absl::Status TrySend(const WorkerMessage& message, absl::Duration) override { return Send(message); }
  void Close() override;

 private:
  using Reply = std::pair<WorkerReply, std::shared_ptr<TensorSegment>>;

  // Shared with the node's replies, which may come after the port has gone.
  struct Mailbox {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Reply> replies;  // guarded by mutex
    bool closed = false;        // guarded by mutex
  };

  void Work();

  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<WorkerConnection> connection_;  // shared with its requests
  Callbacks callbacks_;
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_LOCAL_PORT_H_
