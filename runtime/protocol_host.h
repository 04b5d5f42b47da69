// Runs one protocol core as a process's heart: sockets, timers, compute pool, record writer and the workers' socket
// around it. What a daemon's main needs:
//
//   auto host = ProtocolHost::Create({.name = "n1", .bind_address = "tcp://127.0.0.1:0"});   // bound from here on
//   ... make the core, which may want (*host)->bound_address() and (*host)->TakeRecords() ...
//   absl::Status status = (*host)->Run(std::move(core));   // until its Stop action
//
// Thread-safe but for Run, which is called once; its caller's thread is the protocol thread.
#ifndef BANYAN_RUNTIME_PROTOCOL_HOST_H_
#define BANYAN_RUNTIME_PROTOCOL_HOST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "posix/process_limits.h"
#include "protocol/action.h"
#include "protocol/leadership.h"
#include "protocol/protocol.h"
#include "protocol/record_store.h"
#include "runtime/transport/security_options.h"
#include "runtime/transport/traffic.h"

namespace banyan {

class SessionPort;

struct ProtocolHostOptions {
  std::string name = {};                           // of this process, in workers' errors: the node's name
  std::string bind_address = "tcp://127.0.0.1:0";  // tcp://address:port; port 0: a free one
  std::string worker_socket = {};                  // unix:/path; empty: no workers from outside
  std::string worker_group = {};                   // whose members may attach there; empty: the group of its file
  // What allows the core to act; it outlives the host. None: nobody else could.
  const Leadership* leadership = nullptr;
  int compute_threads = 1;
  // Computations on so many bytes at most run on the protocol thread: another would take longer to wake up. 0 where
  // bytes say little of the time, as for plans.
  int64_t brief_bytes = 0;
  int64_t max_frame_bytes = int64_t{64} << 20;  // of any one frame of a peer; larger ones end its connection
  // With which keys it talks to other processes; none: nothing is encrypted, and everybody comes in.
  std::optional<SecurityOptions> security = std::nullopt;
  int64_t max_worker_bytes = int64_t{1} << 40;  // of all workers' shared memory together
  // What this process may have at all: tensors that cannot fit are refused. None: that is not known.
  std::optional<MemoryLimit> memory_limit = std::nullopt;
  // How long a core may take from StopRequested to Stop.
  absl::Duration stop_timeout = absl::Seconds(10);
  // Takes the core's lines and the runtime's own, on any thread. Empty: nobody does.
  std::function<void(LogLevel level, absl::string_view text)> log = {};
};

class ProtocolHost {
 public:
  // Binds and reads the records, so that addresses and earlier state are known before there is a core. `record_store`
  // is not opened yet; without one records do not survive the process.
  static absl::StatusOr<std::unique_ptr<ProtocolHost>> Create(ProtocolHostOptions options,
                                                              std::unique_ptr<RecordStore> record_store = nullptr);
  ProtocolHost(const ProtocolHost&) = delete;
  ProtocolHost& operator=(const ProtocolHost&) = delete;
  ~ProtocolHost();

  // The address as bound, with the real port: tcp://host:port.
  const std::string& bound_address() const;
  int bound_port() const;
  // Returns what earlier runs persisted in `record_store`; nothing when it is called again.
  StoredRecords TakeRecords();

  // Steps the core until its Stop action, whose status it returns, or until `stop_timeout` after RequestStop
  // (DEADLINE_EXCEEDED), or until the leadership is lost (ABORTED). Every worker's waiting request has
  // ended when it returns: with UNAVAILABLE, or with ABORTED as the core, whose owner then runs another one. REQUIRES:
  // called once.
  absl::Status Run(std::unique_ptr<Protocol> protocol);
  // Makes the core see StopRequested. Async-signal-safe; may come before Run; may come often.
  void RequestStop();
  // Makes the core see DeadlineReached soon, so that it looks for what its owner has laid down for it.
  void Wake();

  // A worker inside this process; the same way as through the socket.
  std::shared_ptr<SessionPort> NewLocalPort();
  // What has gone over the sockets so far.
  Traffic traffic() const;
  // The shared memory that workers' tensors hold now.
  int64_t worker_segment_bytes() const;

 private:
  class Parts;
  class Driver;
  explicit ProtocolHost(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_PROTOCOL_HOST_H_
