// One fault of a simulated job: what happens, to whom, when, and for how long. Values.
#ifndef BANYAN_SIM_FAULTS_FAULT_H_
#define BANYAN_SIM_FAULTS_FAULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"

namespace banyan {

enum class FaultKind : uint8_t {
  // These are shorter than the silence that ends a peer.
  kLoseConnections,  // of a pair, which dial again
  kPause,            // of a process
  kStallLink,
  kCutLink,  // in one or both directions, silently or not
  kPauseScheduler,
  kSlowStorage,  // of the scheduler
  kStallStorage,
  kRestartScheduler,  // killed, and started with its records
  kFailStorage,       // which ends the scheduler; it is started again
  // And these change the job's membership.
  kKillNode,           // which starts again after a while
  kLeave,              // of a node that is asked to stop, and comes back or not
  kKillWorker,         // which is replaced
  kStopNode,           // a pause that is longer than the silence that ends a peer
  kIsolateLink,        // two nodes cannot reach each other for long
  kIsolateNode,        // a node cannot reach the scheduler for long
  kLateStart,          // of a node that is absent at the start of the job
  kLongSchedulerStop,  // a pause or an absence of the scheduler for many times the silence that ends a peer
  // These happen where a second scheduler stands by.
  kStopLeader,  // for longer than its lease
  kKillLeader,  // which starts again when another one leads
  kCutLeaderFromStore,
  kStoreAway,      // for all, for less than a lease or longer
  kIsolateLeader,  // from all nodes, but not from the store
  // Connections stay, and nobody is told that they carry nothing any more.
  kSilenceConnections,  // some or all between two, in one direction or both, for good
  kLoseLarge,           // a path drops what is large: each connection that carries it is silent from then on
  kForgetIdle,          // a path forgets connections that are not used for a while
  // Those of rough jobs alone: the draws of all others stay as they are.
  kRemoveNode,       // an operator removes a node, and lets it in again
  kStandingStorage,  // of the scheduler, for as long as the silence that ends a peer or longer
  kSlowLink,         // a part of the rate is left
  kUnevenLink,       // delay and jitter rise
  kOtherFile,        // the scheduler ends, and comes back with the overlay file of another job; then with its own
  kStopJob,          // an operator ends the job
};
inline constexpr FaultKind kLastFaultKind = FaultKind::kStopJob;

// Returns a short name such as "kill node".
const char* NameOf(FaultKind kind);

// All kinds but the rough ones; and those that a job outlives whose members must stay.
std::vector<FaultKind> AllFaultKinds();
std::vector<FaultKind> TransientFaultKinds();
// Those that no connection tells of, alone.
std::vector<FaultKind> SilentFaultKinds();
// Those of jobs with one scheduler.
std::vector<FaultKind> OneSchedulerFaultKinds();
// Those of rough jobs, beside all others.
std::vector<FaultKind> RoughFaultKinds();
// Those that are over for a process when it runs again, or happen to the scheduler alone; no rough ones.
std::vector<FaultKind> EndFaultKinds();
bool IsRough(FaultKind kind);
bool NeedsStandby(FaultKind kind);
// Those that no connection tells of.
bool IsSilence(FaultKind kind);
// Those of the scheduler, and of those who come back to it: what it knows of them ends with it.
std::vector<FaultKind> SchedulerFaultKinds();

struct Fault {
  absl::Duration at;     // since the start of the simulation
  absl::Duration lasts;  // until the mend, the restart, the end of the pause
  FaultKind kind = FaultKind::kPause;
  NodeId node;      // or the scheduler
  NodeId other;     // of a link; or the scheduler
  WorkerId worker;  // of kKillWorker
  // The host is gone too, or a cut is not noticed by the transport: nobody is told.
  bool is_silent = false;
  bool is_one_way = false;   // of a cut: only from `node` to `other`
  bool is_for_good = false;  // of kLeave: it does not come back

  absl::Duration end() const { return at + lasts; }
};

// Returns a line for traces: "kill node 3 for 1.2s".
std::string DescribeFault(const Fault& fault);

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_FAULT_H_
