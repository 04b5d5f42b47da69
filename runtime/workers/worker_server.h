// Listens for a node's workers on an AF_UNIX socket and carries their messages.
//
// Thread-compatible: made and destroyed by the host, and used by its protocol thread. A worker whose messages make no
// sense is told so, and cut off when it goes on. One whose process has ended is gone, although a child of it may hold
// its socket. Whoever connects and attaches no worker is cut off in time, since connections are bounded.
#ifndef BANYAN_RUNTIME_WORKERS_WORKER_SERVER_H_
#define BANYAN_RUNTIME_WORKERS_WORKER_SERVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

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
  // are heard by Collect. `counters` outlives this.
  static absl::StatusOr<std::unique_ptr<WorkerServer>> Listen(const std::string& address, const std::string& group,
                                                              MakeConnection make, TrafficCounters& counters, Warn warn,
                                                              absl::Duration attach_within = kAttachWithin);
  WorkerServer(FileDescriptor listener, std::string path, MakeConnection make, TrafficCounters& counters, Warn warn,
               absl::Duration attach_within);
  WorkerServer(const WorkerServer&) = delete;
  WorkerServer& operator=(const WorkerServer&) = delete;
  // Sends what waits as far as there is room, closes all sockets and removes the socket's file.
  ~WorkerServer();

  // Can be read while Collect finds something.
  int fd() const { return epoll_->get(); }
  // Takes what workers have sent, and those that have come. Call it when `fd` can be read, and at NextDeadline.
  void Collect(Timestamp now);
  Timestamp NextDeadline() const { return look_at_; }

 private:
  class Channel;
  struct Worker {
    std::shared_ptr<Channel> channel;              // shared with the connection's replies
    std::shared_ptr<WorkerConnection> connection;  // shared with its requests
    FileDescriptor process;                        // see WatchPeerProcess and OwnProcessWatch
    Timestamp attach_until;                        // its end, if it has not asked to be attached by then
    bool is_attaching = false;                     // when the server has looked last
    int malformed = 0;
    bool process_has_ended = false;
    bool has_ended = false;
  };
  using Workers = std::map<uint64_t, Worker>;  // by a number that is never used again

  void Accept(Timestamp now);
  // Takes up why a connection that waits could not be accepted: what the system lacks now is told once, and tried for
  // again after a pause.
  void OnRefused(int error, Timestamp now);
  void Read(uint64_t number, Worker& worker, Timestamp now);
  void Take(uint64_t number, Worker& worker, Packet& packet, Timestamp now);
  void WatchProcess(uint64_t number, const Worker& worker);
  // Ends connections that attach no worker, and listens again where something was lacking.
  void LookAtSilent(Timestamp now);
  void End(Workers::iterator ended);
  // Whether connections that wait make `fd` readable.
  void Listen(bool is_listening);

  const FileDescriptor listener_;
  const std::string path_;
  const std::optional<SocketFile> file_;  // at the path
  const absl::Duration attach_within_;
  const MakeConnection make_;
  TrafficCounters& counters_;
  const Warn warn_;
  const std::shared_ptr<FileDescriptor> epoll_;  // shared with the channels, which wait for room in their sockets
  Workers workers_;
  uint64_t last_number_ = 0;
  bool is_lacking_ = false;  // descriptors or memory for another connection
  Timestamp look_at_ = kNever;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_WORKER_SERVER_H_
