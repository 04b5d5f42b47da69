#include "runtime/local_node.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "access/exposure.h"
#include "node/node_core.h"
#include "posix/steady_clock.h"
#include "runtime/compute_pool.h"
#include "runtime/node_host.h"
#include "runtime/transport/congestion_control.h"
#include "runtime/transport/security_options.h"

namespace banyan {
namespace {

// Differs between any two starts of a node, also across machines whose clocks disagree.
Incarnation NewIncarnation() {
  std::random_device device;
  return Incarnation((uint64_t{device()} << 32 | device()) ^ static_cast<uint64_t>(SteadyNow().nanoseconds()));
}

std::vector<std::string> SchedulersOf(const LocalNodeOptions& options) {
  return absl::StrSplit(options.scheduler, ',');
}

absl::StatusOr<std::optional<SecurityOptions>> SecurityOf(const LocalNodeOptions& options) {
  const absl::Status exposed =
      CheckExposure({options.listen, options.advertise}, !options.key_file.empty(), options.insecure);
  if (!exposed.ok()) return exposed;
  if (options.key_file.empty()) return std::nullopt;
  absl::StatusOr<SecurityOptions> security =
      ReadSecurity(options.key_file, absl::StrSplit(options.scheduler_key, ',', absl::SkipEmpty()), false);
  if (!security.ok()) return security.status();
  return *std::move(security);
}

// Whether a text is tcp://host:port, but for what only a look-up can tell. Nobody would ever connect to another one.
bool IsConnectAddress(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "tcp://")) return false;
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  return colon != 0 && colon != absl::string_view::npos && absl::SimpleAtoi(text.substr(colon + 1), &port) &&
         port > 0 && port <= 65535;
}

absl::Status Check(const LocalNodeOptions& options) {
  if (options.name.empty()) return absl::InvalidArgumentError("LocalNode needs the node's name, as in overlay.yaml");
  if (options.scheduler.empty())
    return absl::InvalidArgumentError("LocalNode needs the scheduler's address, tcp://host:port");
  for (const std::string& scheduler : SchedulersOf(options)) {
    if (IsConnectAddress(scheduler)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("LocalNode: expected the scheduler's address as tcp://host:port, got '", scheduler, "'"));
  }
  const size_t schedulers = SchedulersOf(options).size();
  if (schedulers <= kMostSchedulers) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("LocalNode: at most ", kMostSchedulers, " addresses of schedulers expected, got ", schedulers));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalNode>> LocalNode::Start(const LocalNodeOptions& options) {
  if (absl::Status status = Check(options); !status.ok()) return status;
  absl::StatusOr<std::optional<SecurityOptions>> security = SecurityOf(options);
  if (!security.ok()) return security.status();
  ProtocolHostOptions host_options;
  host_options.name = options.name;
  host_options.bind_address = options.listen;
  host_options.security = *std::move(security);
  host_options.worker_socket = options.worker_socket;
  host_options.compute_threads = options.compute_threads;
  host_options.brief_bytes = ComputePool::kBriefBytes;
  if (options.log) {
    host_options.log = [log = options.log](LogLevel level, absl::string_view text) {
      log(static_cast<int>(level), text);
    };
  }
  const auto address_of = [advertise = options.advertise](const ProtocolHost& bound) {
    return advertise.empty() ? bound.bound_address() : advertise;
  };
  // Shared with the maker, which may be copied.
  const auto schedulers = std::make_shared<std::vector<std::string>>(SchedulersOf(options));
  absl::StatusOr<std::unique_ptr<NodeHost>> host =
      NodeHost::Start(std::move(host_options), [options, address_of, schedulers](const ProtocolHost& bound) {
        return std::make_unique<NodeCore>(
            NodeOptions{.name = options.name,
                        .address = address_of(bound),
                        .scheduler_addresses = *schedulers,
                        .learned_schedulers = schedulers.get(),
                        .job = options.job,
                        .incarnation = NewIncarnation(),
                        .loss_limited = NewConnectionsAreLossLimited(),
                        .compute_threads = static_cast<uint32_t>(options.compute_threads)});
      });
  if (!host.ok()) return host.status();
  std::string address = address_of((*host)->host());
  return std::make_unique<LocalNode>(*std::move(host), std::move(address));
}

LocalNode::LocalNode(std::unique_ptr<NodeHost> host, std::string address)
    : host_(std::move(host)), address_(std::move(address)) {}

LocalNode::~LocalNode() {
  // A forked child has none of its threads.
  if (!host_->home().IsHere()) (void)host_.release();
}

absl::StatusOr<std::unique_ptr<Session>> LocalNode::OpenSession(uint32_t worker, absl::Duration timeout,
                                                                absl::Duration room_timeout) {
  if (absl::Status here = host_->home().Check("node"); !here.ok()) return here;
  return host_->OpenSession(worker, timeout, room_timeout);
}

absl::Status LocalNode::Stop() {
  if (absl::Status here = host_->home().Check("node"); !here.ok()) return here;
  return host_->Stop();
}

}  // namespace banyan
