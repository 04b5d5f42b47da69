#include "runtime/node_host.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/ids.h"
#include "core/time.h"
#include "posix/steady_clock.h"
#include "runtime/session/session_core.h"

namespace banyan {
namespace {

// From one start to the next. Only a scheduler that says of fresh nodes that they have fallen out makes it wait.
constexpr absl::Duration kBetweenStarts = absl::Seconds(1);
// Somebody else may hold its addresses for a moment between two starts.
constexpr int kMostTries = 60;
constexpr absl::Duration kTryFor = absl::Minutes(1);
// A wait in a form that clocks can add to the time.
constexpr absl::Duration kForever = absl::Hours(24 * 365);

}  // namespace

absl::StatusOr<std::unique_ptr<NodeHost>> NodeHost::Start(ProtocolHostOptions options, MakeProtocol make,
                                                          std::unique_ptr<RecordStore> records) {
  const bool has_records = records != nullptr;
  absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create(options, std::move(records));
  if (!host.ok()) return host.status();
  // The next start listens at the same port, and on all that the address leads to.
  const std::string& asked = options.bind_address;
  options.bind_address = absl::StrCat(asked.substr(0, asked.rfind(':')), ":", (*host)->bound_port());
  return std::make_unique<NodeHost>(std::move(options), std::move(make), *std::move(host), has_records);
}

NodeHost::NodeHost(ProtocolHostOptions options, MakeProtocol make, std::unique_ptr<ProtocolHost> host, bool has_records)
    : make_(std::move(make)), has_records_(has_records), options_(std::move(options)), host_(std::move(host)) {
  thread_ = std::thread([this, protocol = make_(*host_)]() mutable { Work(std::move(protocol)); });
}

NodeHost::~NodeHost() { (void)Stop(); }

void NodeHost::Work(std::unique_ptr<Protocol> protocol) {
  absl::Status status;
  while (protocol != nullptr) {
    const Timestamp started_at = SteadyNow();
    // Nobody else replaces the host.
    status = host_->Run(std::move(protocol));
    if (!absl::IsAborted(status)) break;
    Pause(started_at + kBetweenStarts - SteadyNow());
    absl::StatusOr<std::unique_ptr<Protocol>> next = StartAgain(status.message());
    status = next.status();
    if (next.ok()) protocol = *std::move(next);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  status_ = status;
  changed_.notify_all();
}

absl::StatusOr<std::unique_ptr<Protocol>> NodeHost::StartAgain(absl::string_view reason) {
  std::unique_ptr<ProtocolHost> old;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return std::unique_ptr<Protocol>();
    old = std::move(host_);
  }
  Warn(absl::StrCat(reason, "; joins again as a new start"));
  if (std::exchange(has_records_, false)) Warn("the records of this node end here: they tell of one start alone");
  // Its addresses are free when it is gone.
  old.reset();
  absl::StatusOr<std::unique_ptr<ProtocolHost>> host = MakeHost();
  if (!host.ok()) return host.status();
  if (*host == nullptr) return std::unique_ptr<Protocol>();
  std::unique_ptr<Protocol> protocol = make_(**host);
  std::lock_guard<std::mutex> lock(mutex_);
  host_ = *std::move(host);
  if (stopping_) host_->RequestStop();
  changed_.notify_all();
  return protocol;
}

absl::StatusOr<std::unique_ptr<ProtocolHost>> NodeHost::MakeHost() {
  for (int tries = 1;; ++tries) {
    absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create(options_);
    if (host.ok() || tries == kMostTries) return host;
    if (tries == 1) Warn(absl::StrCat(host.status().message(), "; tries again for ", absl::FormatDuration(kTryFor)));
    Pause(kBetweenStarts);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return std::unique_ptr<ProtocolHost>();
  }
}

void NodeHost::Pause(absl::Duration pause) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(std::max(pause, absl::ZeroDuration())),
                    [this] { return stopping_; });
}

void NodeHost::Warn(absl::string_view text) const {
  if (options_.log) options_.log(LogLevel::kWarning, text);
}

absl::StatusOr<std::shared_ptr<SessionPort>> NodeHost::NewPort(absl::Duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(std::clamp(timeout, absl::ZeroDuration(), kForever)),
                    [this] { return ended_ || host_ != nullptr; });
  if (host_ == nullptr) return absl::UnavailableError(absl::StrCat("the node has ended: ", status_.message()));
  return host_->NewLocalPort();
}

absl::StatusOr<std::unique_ptr<Session>> NodeHost::OpenSession(uint32_t worker, absl::Duration timeout,
                                                               absl::Duration room_timeout) {
  auto core = OpenSessionCore([this](absl::Duration left) { return NewPort(left); }, WorkerId(worker), timeout,
                              {.room = room_timeout});
  if (!core.ok()) return core.status();
  return std::make_unique<Session>(*std::move(core));
}

void NodeHost::RequestStop() {
  std::lock_guard<std::mutex> lock(mutex_);
  stopping_ = true;
  if (host_ != nullptr) host_->RequestStop();
  changed_.notify_all();
}

absl::Status NodeHost::Join() {
  std::lock_guard<std::mutex> lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
  return status_;
}

absl::Status NodeHost::Stop() {
  RequestStop();
  return Join();
}

}  // namespace banyan
