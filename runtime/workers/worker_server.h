// Listens for a node's workers on an AF_UNIX socket and carries their messages, on a thread of its own.
//
// Thread-compatible: made and destroyed by the host. A worker whose messages make no sense is told so, and cut off when
// it goes on. One whose process has ended is gone, although a child of it may hold its socket. Whoever connects and
// attaches no worker is cut off in time, since connections are bounded.
#ifndef BANYAN_RUNTIME_WORKERS_WORKER_SERVER_H_
#define BANYAN_RUNTIME_WORKERS_WORKER_SERVER_H_

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "posix/file_descriptor.h"
#include "posix/unix_socket.h"
#include "runtime/transport/traffic.h"
#include "runtime/workers/worker_connection.h"

namespace banyan {

class WorkerServer {
 public:
  using MakeConnection = std::function<std::shared_ptr<WorkerConnection>(WorkerConnection::Reply)>;
  using Warn = std::function<void(const std::string& text)>;
  // So long a connection stays without a worker that is attached or waits for that.
  static constexpr absl::Duration kAttachWithin = absl::Seconds(10);

  // Listens on unix:/path at once, for this user and the file's group, which `group` names if it is not empty. Workers
  // are heard after Start. `counters` outlives this. `warn` is called on the server's thread.
  static absl::StatusOr<std::unique_ptr<WorkerServer>> Listen(const std::string& address, const std::string& group,
                                                              MakeConnection make, TrafficCounters& counters, Warn warn,
                                                              absl::Duration attach_within = kAttachWithin);
  WorkerServer(FileDescriptor listener, std::string path, MakeConnection make, TrafficCounters& counters, Warn warn,
               absl::Duration attach_within);
  WorkerServer(const WorkerServer&) = delete;
  WorkerServer& operator=(const WorkerServer&) = delete;
  // Sends what waits as far as there is room, closes all sockets and removes the socket's file.
  ~WorkerServer();

  void Start();

 private:
  class Channel;
  struct Worker {
    std::shared_ptr<Channel> channel;              // shared with the connection's replies
    std::shared_ptr<WorkerConnection> connection;  // shared with its requests
    FileDescriptor process;                        // see WatchPeerProcess and OwnProcessWatch
    Timestamp attach_until;                        // its end, if it has not asked to be attached by then
    int malformed = 0;
    bool ended = false;
  };

  void Work();
  void Wait();
  void Accept();
  // Takes up why a connection that waits could not be accepted: what the system lacks now is told once, and tried for
  // again after a pause.
  void OnRefused(int error);
  void Read(Worker& worker);
  void Take(Worker& worker, Packet& packet);

  const FileDescriptor listener_;
  const std::string path_;
  const std::optional<SocketFile> file_;  // at the path
  const absl::Duration attach_within_;
  const MakeConnection make_;
  TrafficCounters& counters_;
  const Warn warn_;
  // Shared with the channels, which wake the server's thread.
  const std::shared_ptr<FileDescriptor> wakeup_;
  std::atomic<bool> stopping_ = false;
  std::list<Worker> workers_;  // of the server's thread
  bool is_lacking_ = false;    // of the server's thread: descriptors or memory for another connection
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_WORKER_SERVER_H_
