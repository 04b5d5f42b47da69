// How many bits an emulated WAN moves per second, and how much of a core its forwarder takes for them. Prints one line
// per case: the rate over all links, the forwarder's share of a core, and what a whole core of it would carry.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "topology/samples/sample_networks.h"
#include "wan/emulator.h"
#include "wan/node_namespace.h"
#include "wan/testing/testing_traffic.h"
#include "wan/wan_client.h"

namespace banyan {
namespace {

constexpr absl::Duration kWarmUp = absl::Seconds(2);
constexpr absl::Duration kMeasured = absl::Seconds(5);
constexpr double kBitsPerByte = 8;

struct Case {
  std::string name;
  NetworkView view;
  std::vector<FlowSpec> flows;
};

NetworkView WithDelayAndLoss(const NetworkView& view, absl::Duration delay, double loss) {
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  for (NetworkLink& link : links) {
    link.delay = delay;
    link.loss_fraction = loss;
  }
  return *NetworkView::Create({view.nodes().begin(), view.nodes().end()}, std::move(links));
}

// One flow over every directed link.
std::vector<FlowSpec> FlowPerLink(const NetworkView& view) {
  std::vector<FlowSpec> flows;
  for (const NetworkLink& link : view.links()) flows.push_back({view.NameOf(link.from), view.NameOf(link.to), "bbr"});
  return flows;
}

std::vector<Case> Cases() {
  const NetworkView fast = WithDelayAndLoss(CompleteNetwork(2, 10000), absl::Milliseconds(1), 0);
  const NetworkView mesh = WithDelayAndLoss(CompleteNetwork(4, 250), absl::Milliseconds(5), 0);
  const NetworkView internet2 = WithDelayAndLoss(Internet2Network(), absl::Milliseconds(15), 2e-4);
  const NetworkView mesh9 = WithDelayAndLoss(RandomNetwork(9, 8, 1), absl::Milliseconds(15), 2e-4);
  return {{"2 nodes, 10 Gbit/s, 1 ms, one flow", fast, {{"n1", "n2", "cubic"}}},
          {"4 nodes, 12 links of 250 Mbit/s, 5 ms", mesh, FlowPerLink(mesh)},
          {"internet2, 26 links, 15 ms, loss 0.02 %", internet2, FlowPerLink(internet2)},
          {"mesh9, 72 links, 15 ms, loss 0.02 %", mesh9, FlowPerLink(mesh9)}};
}

int64_t LinkBytes(const WanStatus& status) {
  int64_t bytes = 0;
  for (const WanStatus::Link& link : status.links) bytes += link.bytes;
  return bytes;
}

void Require(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

WanStatus Ask(const WanClient& client) {
  absl::StatusOr<WanStatus> status = client.Status();
  Require(status.status());
  return *std::move(status);
}

void Measure(const Case& measured, const WanClient& client) {
  TcpFlows flows(client, measured.flows);
  flows.Run(kWarmUp);
  const WanStatus before = Ask(client);
  flows.Run(kMeasured);
  const WanStatus after = Ask(client);
  const double seconds = after.uptime_seconds - before.uptime_seconds;
  const double gigabits = static_cast<double>(LinkBytes(after) - LinkBytes(before)) * kBitsPerByte / 1e9;
  const double core = (after.forwarder.cpu_seconds - before.forwarder.cpu_seconds) / seconds;
  const auto packets = static_cast<double>(after.forwarder.read_packets - before.forwarder.read_packets);
  const auto wakeups = static_cast<double>(after.forwarder.wakeups - before.forwarder.wakeups);
  std::printf("%-42s %6.2f Gbit/s  %4.2f of a core  %6.2f Gbit/s per core  %7.0f packets/s  %6.0f wake-ups/s\n",
              measured.name.c_str(), gigabits / seconds, core, gigabits / seconds / core, packets / seconds,
              wakeups / seconds);
}

int RunAll(const std::string& directory) {
  Require(GainNamespaceRights());
  for (const Case& measured : Cases()) {
    EmulatorOptions options;
    options.directory = directory;
    options.overlay = measured.name;
    options.view = measured.view;
    Require(StartEmulatorInBackground(options));
    Measure(measured, WanClient(directory));
    StopEmulator(directory).IgnoreError();
  }
  return 0;
}

}  // namespace
}  // namespace banyan

int main() {
  const std::string directory = banyan::DefaultWanDirectory() + "-benchmark";
  try {
    return banyan::RunAll(directory);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    banyan::StopEmulator(directory).IgnoreError();
    return 1;
  }
}
