// What a step of a core costs by the kind of its event: the figures of sim/processes/step_costs.h. A simulated job of
// nine nodes trains many small tensors. Each step is timed. The decoding of the message that it handles and the
// encoding of those that it sends count too.
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "proto/wire.h"
#include "sim/cluster.h"
#include "sim/overlays.h"
#include "sim/processes/step_costs.h"

namespace banyan {
namespace {

// Of this thread: other processes do not count.
double CpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr int kNodes = 9;
constexpr uint64_t kRounds = 30;
constexpr int kTensors = 40;

struct Cost {
  int64_t events = 0;
  double seconds = 0;
};
using Costs = std::map<std::string, Cost>;

std::string KindOf(const Event& event) {
  if (const auto* received = std::get_if<MessageReceived>(&event)) {
    return std::holds_alternative<ChunkMessage>(received->message) ? "chunk" : "message";
  }
  if (std::holds_alternative<ComputationFinished>(event)) return "computation";
  if (std::holds_alternative<WorkerCalled>(event)) return "worker call";
  return std::holds_alternative<DeadlineReached>(event) ? "deadline" : "other";
}

// Times what the core inside does. Thread-compatible.
class TimedProtocol : public Protocol {
 public:
  // `costs` outlives this.
  TimedProtocol(std::unique_ptr<Protocol> core, Costs* costs) : core_(std::move(core)), costs_(costs) {}

  Actions Step(Timestamp now, Event event) override {
    Cost& cost = (*costs_)[KindOf(event)];
    std::string encoded;
    const auto* received = std::get_if<MessageReceived>(&event);
    if (received != nullptr) encoded = EncodeMessage(received->message);
    const double start_s = CpuSeconds();
    if (received != nullptr && !DecodeMessage(encoded, received->payload).ok()) std::abort();
    Actions actions = core_->Step(now, std::move(event));
    size_t bytes = 0;
    for (const Action& action : actions) {
      if (const auto* send = std::get_if<Send>(&action)) bytes += EncodeMessage(send->message).size();
    }
    cost.seconds += CpuSeconds() - start_s;
    cost.events += bytes < SIZE_MAX ? 1 : 0;  // what was encoded is used
    return actions;
  }
  Timestamp NextDeadline() const override { return core_->NextDeadline(); }

 private:
  std::unique_ptr<Protocol> core_;
  Costs* const costs_;
};

ClusterOptions MakeOptions(Costs* nodes, Costs* scheduler) {
  OverlayShape shape;
  shape.nodes = kNodes;
  shape.links = 2 * kNodes;
  Random random(1);
  ClusterOptions options;
  options.overlay = RandomOverlay(shape, &random);
  options.overlay.chunks.max_elements = 100;
  options.overlay.chunks.min_elements = 1;
  options.plan.rounds = kRounds;
  for (int i = 0; i < kTensors; ++i) options.plan.tensors.push_back({absl::StrFormat("t%d", i), 300, 0});
  options.check_messages = false;
  options.wrap_core = [=](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    return std::make_unique<TimedProtocol>(std::move(core), node == kSchedulerNode ? scheduler : nodes);
  };
  return options;
}

void Print(const std::string& who, const Costs& costs) {
  for (const auto& [kind, cost] : costs) {
    const double each_us = cost.seconds * 1e6 / static_cast<double>(cost.events);
    std::cout << absl::StrFormat("%-9s  %-11s  %9d times  %8.2f us\n", who, kind, cost.events, each_us);
  }
}

// What a message takes to encode and to decode for each of the things that it names.
double EntrySeconds() {
  constexpr int kEntries = 1000;
  constexpr int kTimes = 100;
  RoundsClosed closed;
  for (uint32_t i = 0; i < kEntries; ++i) closed.entries.push_back({KeyId(i + 1), Round(100), uint64_t{i} << 40});
  const double start_s = CpuSeconds();
  for (int i = 0; i < kTimes; ++i) {
    if (!DecodeMessage(EncodeMessage(closed), {}).ok()) std::abort();
  }
  return (CpuSeconds() - start_s) / kTimes / kEntries;
}

int Main() {
  Costs nodes;
  Costs scheduler;
  Cluster cluster(MakeOptions(&nodes, &scheduler));
  if (!cluster.RunUntilTrained(Timestamp() + absl::Hours(1))) {
    std::cerr << cluster.WhoWaits() << "\n";
    return 1;
  }
  Print("node", nodes);
  Print("scheduler", scheduler);
  std::cout << absl::StrFormat("each entry of a message  %.2f us\n", EntrySeconds() * 1e6);
  return 0;
}

}  // namespace
}  // namespace banyan

int main() { return banyan::Main(); }
