// The discrete-event driver: runs cores against a simulated network in simulated time, the same way for the same seed.
// Thread-compatible. Owns everything of one simulation.
#ifndef BANYAN_SIM_SIMULATOR_H_
#define BANYAN_SIM_SIMULATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/random.h"
#include "core/time.h"
#include "protocol/protocol.h"
#include "sim/agenda.h"
#include "sim/network/simulated_network.h"
#include "sim/processes/simulated_process.h"
#include "sim/trace.h"
#include "sim/violations.h"

namespace banyan {

class Simulator {
 public:
  Simulator(uint64_t seed, const NetworkOptions& network);
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // The process listens and starts when the agenda reaches `start`, or not before StartAgain when that is kNever. The
  // pointer lives as long as this.
  SimulatedProcess* AddProcess(NodeId id, const std::string& address, const ProcessOptions& options,
                               std::unique_ptr<Protocol> core, Timestamp start);
  // Starts a process that does not run, at its address. REQUIRES: it was added.
  void StartAgain(NodeId id, std::unique_ptr<Protocol> core);
  // nullptr when there is none.
  SimulatedProcess* process(NodeId id);

  // Runs until `done` says so (asked after each event), the time is up, or nothing is left to happen. True when `done`.
  bool RunUntil(const std::function<bool()>& done, Timestamp limit);

  Agenda* agenda() { return &agenda_; }
  SimulatedNetwork* network() { return &network_; }
  Trace* trace() { return &trace_; }
  Violations* violations() { return &violations_; }
  Timestamp now() const { return agenda_.now(); }
  // Returns the random numbers for what surrounds the simulation: faults, workers.
  Random* random() { return &random_; }

 private:
  void Happen(Occurrence occurrence);
  template <typename T>
  void ToNetwork(T occurrence);
  template <typename T>
  void ToProcess(T occurrence);

  Random random_;
  Agenda agenda_;
  Trace trace_;
  Violations violations_;
  SimulatedNetwork network_;
  std::vector<std::unique_ptr<SimulatedProcess>> processes_;  // by NodeId
  std::map<NodeId, std::string> addresses_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_SIMULATOR_H_
