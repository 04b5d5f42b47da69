// A worker's connection to the node over the node's AF_UNIX socket. Thread-safe as SessionPort says.
#ifndef BANYAN_RUNTIME_SESSION_UNIX_PORT_H_
#define BANYAN_RUNTIME_SESSION_UNIX_PORT_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posix/file_descriptor.h"
#include "runtime/session/session_port.h"
#include "runtime/workers/segment_budget.h"

namespace banyan {

class UnixPort : public SessionPort {
 public:
  // Tries until `timeout` while nobody listens on `address`, unix:/path; then UNAVAILABLE. A node that makes no room
  // for a message for `send_timeout` counts as gone.
  static absl::StatusOr<std::unique_ptr<UnixPort>> Connect(const std::string& address, absl::Duration timeout,
                                                           absl::Duration send_timeout);
  UnixPort(FileDescriptor socket, std::string address);
  ~UnixPort() override;

  void Start(Callbacks callbacks) override;
  absl::Status Send(const WorkerMessage& message) override;
  absl::Status TrySend(const WorkerMessage& message, absl::Duration patience) override;
  void Close() override;

 private:
  void Work();
  // The connection's end, when the node sent what it must not.
  absl::Status ReceiveOne();
  // Maps the memory that came with a reply.
  absl::StatusOr<std::shared_ptr<TensorSegment>> MapSegment(FileDescriptor file, const TensorSegment::Shape& shape);
  absl::Status ClosedByNode() const;
  // Returns why the connection has ended; OK while the thread that reads has not come to the end. What the node has
  // said last may be why the job ended, so only that thread ends a connection that the node has closed.
  absl::Status WhyEnded();
  // Ends the connection for `reason` unless it ended before, and returns why it did: whichever thread sees the end
  // next tells its cause, not that it is closed.
  absl::Status End(const absl::Status& reason);

  const FileDescriptor socket_;
  const std::string address_;
  // Shared with the segments. Its bytes are for the node to bound.
  const std::shared_ptr<SegmentBudget> budget_ = std::make_shared<SegmentBudget>(std::numeric_limits<int64_t>::max());
  Callbacks callbacks_;
  std::atomic<bool> closing_ = false;
  std::mutex mutex_;
  absl::Status end_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_UNIX_PORT_H_
