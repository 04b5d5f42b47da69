#include "sim/simulator.h"

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/check.h"

namespace banyan {

Simulator::Simulator(uint64_t seed, const NetworkOptions& network)
    : random_(seed), network_(network, random_.Next(), &agenda_, &violations_) {}

SimulatedProcess* Simulator::AddProcess(NodeId id, const std::string& address, const ProcessOptions& options,
                                        std::unique_ptr<Protocol> core, Timestamp start) {
  if (processes_.size() <= id.value()) processes_.resize(id.value() + 1);
  BANYAN_CHECK(processes_[id.value()] == nullptr);
  const ProcessContext context{&agenda_, &network_, &trace_, &violations_};
  processes_[id.value()] = std::make_unique<SimulatedProcess>(id, options, random_.Next(), std::move(core), context);
  addresses_[id] = address;
  SimulatedProcess* added = processes_[id.value()].get();
  if (start == kNever) return added;
  agenda_.CallAt(start, [this, added, address] {
    if (added->running()) return;  // somebody has started it sooner
    network_.Listen(added->id(), address);
    added->Start();
  });
  return added;
}

void Simulator::StartAgain(NodeId id, std::unique_ptr<Protocol> core) {
  network_.Listen(id, addresses_.at(id));
  process(id)->Restart(std::move(core));
}

SimulatedProcess* Simulator::process(NodeId id) {
  return id.value() < processes_.size() ? processes_[id.value()].get() : nullptr;
}

bool Simulator::RunUntil(const std::function<bool()>& done, Timestamp limit) {
  while (!done()) {
    if (agenda_.empty() || agenda_.NextTime() > limit) {
      agenda_.AdvanceTo(limit);
      return false;
    }
    Happen(agenda_.Next());
  }
  return true;
}

template <typename T>
void Simulator::ToNetwork(T occurrence) {
  std::optional<SimulatedNetwork::Delivery> delivery = network_.Handle(std::move(occurrence));
  if (delivery.has_value()) processes_[delivery->process.value()]->Deliver(std::move(delivery->event));
}

template <typename T>
void Simulator::ToProcess(T occurrence) {
  processes_[occurrence.process.value()]->Handle(std::move(occurrence));
}

void Simulator::Happen(Occurrence occurrence) {
  std::visit(
      [this](auto& what) {
        using T = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<T, ScheduledCall>) {
          what.call();
        } else if constexpr (std::is_same_v<T, MessageArrival> || std::is_same_v<T, LossNoticed> ||
                             std::is_same_v<T, Dialled> || std::is_same_v<T, PaceDue>) {
          ToNetwork(std::move(what));
        } else {
          ToProcess(std::move(what));
        }
      },
      occurrence);
}

}  // namespace banyan
