// The node's end of one worker's socket: sends replies from any thread without ever blocking.
//
// Thread-safe but for Flush and fd, which are the server thread's. Shared by the server and by the worker's connection,
// which may still have a reply after the server has gone.
#ifndef BANYAN_RUNTIME_WORKERS_WORKER_CHANNEL_H_
#define BANYAN_RUNTIME_WORKERS_WORKER_CHANNEL_H_

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "posix/file_descriptor.h"
#include "proto/session_messages.h"
#include "runtime/workers/tensor_segment.h"

namespace banyan {

class WorkerChannel {
 public:
  // `wake` makes the server look at wants_write and broken again; it is called on any thread.
  WorkerChannel(FileDescriptor socket, std::function<void()> wake);

  void Send(const WorkerReply& reply, std::shared_ptr<TensorSegment> segment);
  // Sends what has waited for room.
  void Flush();
  bool wants_write() const;
  // The worker has gone, or has not read for so long that the bound on what waits is reached.
  bool broken() const;
  int fd() const { return socket_.get(); }

 private:
  struct Waiting {
    std::string bytes;
    std::shared_ptr<TensorSegment> segment;  // shared: its descriptor is closed once it has been passed on
  };

  // False when there is no room. The mutex is held.
  bool SendNow(const Waiting& waiting);

  const FileDescriptor socket_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::deque<Waiting> waiting_;  // guarded by mutex_
  bool broken_ = false;          // guarded by mutex_
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_WORKER_CHANNEL_H_
