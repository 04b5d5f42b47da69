#include "runtime/node_host.h"

#include <utility>

#include "runtime/session/session_core.h"
#include "runtime/session/session_port.h"

namespace banyan {

absl::StatusOr<std::unique_ptr<NodeHost>> NodeHost::Start(ProtocolHostOptions options, const MakeProtocol& make) {
  absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create(std::move(options));
  if (!host.ok()) return host.status();
  std::unique_ptr<Protocol> protocol = make(**host);
  return std::make_unique<NodeHost>(*std::move(host), std::move(protocol));
}

NodeHost::NodeHost(std::unique_ptr<ProtocolHost> host, std::unique_ptr<Protocol> protocol) : host_(std::move(host)) {
  thread_ =
      std::thread([this, protocol = std::move(protocol)]() mutable { status_ = host_->Run(std::move(protocol)); });
}

NodeHost::~NodeHost() { (void)Stop(); }

absl::StatusOr<std::unique_ptr<Session>> NodeHost::OpenSession(uint32_t worker, absl::Duration timeout) {
  auto core = SessionCore::Open(host_->NewLocalPort(), WorkerId(worker), timeout);
  if (!core.ok()) return core.status();
  return std::make_unique<Session>(*std::move(core));
}

absl::Status NodeHost::Stop() {
  std::lock_guard<std::mutex> lock(mutex_);
  host_->RequestStop();
  if (thread_.joinable()) thread_.join();
  return status_;
}

}  // namespace banyan
