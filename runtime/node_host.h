// Runs a node's core on a thread of its own and opens sessions on it within the process. A core that stops with ABORTED
// has fallen out of its job, which takes another start of the node: then another core runs, on the same addresses.
// Thread-safe.
#ifndef BANYAN_RUNTIME_NODE_HOST_H_
#define BANYAN_RUNTIME_NODE_HOST_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posix/home_process.h"
#include "protocol/protocol.h"
#include "protocol/record_store.h"
#include "runtime/protocol_host.h"
#include "runtime/session/session.h"
#include "runtime/session/session_port.h"

namespace banyan {

class NodeHost {
 public:
  // Makes a core once the address is known at which the host listens, which is the same each time. Differs from start
  // to start: a node that has fallen out joins as another incarnation. Later calls run on the host's thread.
  using MakeProtocol = std::function<std::unique_ptr<Protocol>(const ProtocolHost& host)>;

  // `records` gets what the first core persists, and that alone; null: nobody does.
  static absl::StatusOr<std::unique_ptr<NodeHost>> Start(ProtocolHostOptions options, MakeProtocol make,
                                                         std::unique_ptr<RecordStore> records = nullptr);
  NodeHost(ProtocolHostOptions options, MakeProtocol make, std::unique_ptr<ProtocolHost> host, bool has_records);
  NodeHost(const NodeHost&) = delete;
  NodeHost& operator=(const NodeHost&) = delete;
  // Stops.
  ~NodeHost();

  absl::StatusOr<std::unique_ptr<Session>> OpenSession(uint32_t worker, absl::Duration timeout,
                                                       absl::Duration room_timeout = absl::InfiniteDuration());
  // The present one. REQUIRES: no core stops with ABORTED meanwhile.
  ProtocolHost& host() { return *host_; }
  // The process whose threads run it: a forked child must not use or destroy this.
  const HomeProcess& home() const { return home_; }
  void RequestStop();
  // Waits for the end of the last core and returns its status. Idempotent.
  absl::Status Join();
  absl::Status Stop();

 private:
  void Work(std::unique_ptr<Protocol> protocol);
  // Makes a host in place of the one that has ended, and returns its core; none when a stop was requested.
  absl::StatusOr<std::unique_ptr<Protocol>> StartAgain(absl::string_view reason);
  // Makes a host on the same addresses, as soon as nobody else has them. UNAVAILABLE when somebody keeps them; null
  // when a stop was requested.
  absl::StatusOr<std::unique_ptr<ProtocolHost>> MakeHost();
  // Waits so long, or until a stop is requested.
  void Pause(absl::Duration pause);
  void Warn(absl::string_view text) const;
  absl::StatusOr<std::shared_ptr<SessionPort>> NewPort(absl::Duration timeout);

  const HomeProcess home_;
  const MakeProtocol make_;
  bool has_records_ = false;  // of the thread: what the present core persists is kept
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;               // guarded by mutex_, as all below
  bool ended_ = false;                  // the last core
  absl::Status status_;                 // its own
  ProtocolHostOptions options_;         // with real addresses
  std::unique_ptr<ProtocolHost> host_;  // null between two cores
  std::mutex join_mutex_;               // guards joining
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_NODE_HOST_H_
