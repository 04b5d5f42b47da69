// Runs a protocol core on a thread of its own and opens sessions on it within the process. Thread-safe.
#ifndef BANYAN_RUNTIME_NODE_HOST_H_
#define BANYAN_RUNTIME_NODE_HOST_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "protocol/protocol.h"
#include "runtime/protocol_host.h"
#include "runtime/session/session.h"

namespace banyan {

class NodeHost {
 public:
  // Makes the core once the address is known at which the host listens.
  using MakeProtocol = std::function<std::unique_ptr<Protocol>(const ProtocolHost& host)>;

  static absl::StatusOr<std::unique_ptr<NodeHost>> Start(ProtocolHostOptions options, const MakeProtocol& make);
  NodeHost(std::unique_ptr<ProtocolHost> host, std::unique_ptr<Protocol> protocol);
  NodeHost(const NodeHost&) = delete;
  NodeHost& operator=(const NodeHost&) = delete;
  // Stops.
  ~NodeHost();

  absl::StatusOr<std::unique_ptr<Session>> OpenSession(uint32_t worker, absl::Duration timeout);
  ProtocolHost& host() { return *host_; }
  // The core's own end; idempotent.
  absl::Status Stop();

 private:
  const std::unique_ptr<ProtocolHost> host_;
  absl::Status status_;  // of the thread until it is joined
  std::mutex mutex_;     // guards joining
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_NODE_HOST_H_
