#include "tools/demo/demo_network.h"

#include <utility>

#include "core/check.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

constexpr char kOverlayFile[] = "wan.yaml";

absl::StatusOr<NetworkView> ReadView(const DemoWanOptions& options) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(options.overlay, options.overlay_name);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForEmulation(*overlay); !status.ok()) return status;
  return MakeNetworkView(*overlay);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DemoNetwork>> DemoNetwork::OnLoopback(size_t nodes) {
  absl::StatusOr<PortReservation> ports = PortReservation::Take(static_cast<int>(nodes) + 1);
  if (!ports.ok()) return ports.status();
  std::unique_ptr<DemoNetwork> network(new DemoNetwork);
  network->ports_.emplace(*std::move(ports));
  network->scheduler_address_ = network->ports_->Address(0);
  for (size_t i = 0; i < nodes; ++i) {
    network->node_addresses_.push_back(network->ports_->Address(static_cast<int>(i) + 1));
  }
  return network;
}

absl::StatusOr<std::unique_ptr<DemoNetwork>> DemoNetwork::OnWan(const DemoWanOptions& options,
                                                                const WorkDirectory& directory) {
  const absl::StatusOr<NetworkView> view = ReadView(options);
  if (!view.ok()) return view.status();
  const absl::StatusOr<std::vector<NodeId>> hubs = HubsByRate(*view);
  if (!hubs.ok()) return hubs.status();
  if (absl::Status status = directory.Write(kOverlayFile, options.overlay); !status.ok()) return status;
  EmulatedWanOptions wan;
  wan.banyan_program = options.banyan_program;
  wan.overlay = directory.File(kOverlayFile);
  wan.directory = directory.File("wan");
  wan.log_path = directory.File("wan.log");
  wan.seed = options.seed;
  wan.redraw_seconds = options.redraw_seconds;
  absl::StatusOr<std::unique_ptr<EmulatedWan>> started = EmulatedWan::Start(wan);
  if (!started.ok()) return started.status();
  const absl::StatusOr<WanStatus> status = (*started)->Status();
  if (!status.ok()) return status.status();

  std::unique_ptr<DemoNetwork> network(new DemoNetwork);
  network->wan_ = *std::move(started);
  network->banyan_program_ = options.banyan_program;
  network->wan_directory_ = wan.directory;
  network->scheduler_node_ = view->NameOf(hubs->front());
  network->scheduler_address_ = SchedulerAddressAt(status->FindNode(network->scheduler_node_)->address);
  for (const WanStatus::Node& node : status->nodes) {
    network->node_names_.push_back(node.name);
    network->node_addresses_.push_back(NodeAddressAt(node.address));
  }
  return network;
}

std::vector<std::string> DemoNetwork::InNode(size_t node, const std::vector<std::string>& program) const {
  BANYAN_CHECK(node < node_addresses_.size());
  return is_wan() ? In(node_names_[node], program) : program;
}

std::vector<std::string> DemoNetwork::BesideScheduler(const std::vector<std::string>& program) const {
  return is_wan() ? In(scheduler_node_, program) : program;
}

std::vector<std::string> DemoNetwork::In(const std::string& node, const std::vector<std::string>& program) const {
  return WanExecArguments(banyan_program_, wan_directory_, node, program);
}

std::optional<WanStatus> DemoNetwork::TakeWanStatus() const {
  if (!is_wan()) return std::nullopt;
  absl::StatusOr<WanStatus> status = wan_->Status();
  return status.ok() ? std::optional<WanStatus>(*std::move(status)) : std::nullopt;
}

absl::Status DemoNetwork::Check(absl::Duration patience) const {
  return is_wan() ? wan_->Check(patience) : absl::OkStatus();
}

}  // namespace banyan
