// The schedulers of a simulated job of which one leads. Starts a core whenever one of them is elected, and lets it
// stand by again when its core has stopped, as a supervisor does. Thread-compatible; owned by the job's processes.
#ifndef BANYAN_SIM_LEADERSHIP_STANDBY_SCHEDULERS_H_
#define BANYAN_SIM_LEADERSHIP_STANDBY_SCHEDULERS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "protocol/protocol.h"
#include "sim/leadership/candidate.h"
#include "sim/leadership/shared_storage.h"
#include "sim/simulator.h"

namespace banyan {

class StandbySchedulers {
 public:
  // Returns a core that goes on with the records, or nullptr when their job is over.
  using MakeCore = std::function<std::unique_ptr<Protocol>(const StoredRecords&)>;

  // `on_failed` is told when one has stopped that was not asked to, though it led. `simulator` outlives this.
  StandbySchedulers(const StandbyOptions& options, Simulator* simulator, MakeCore make_core,
                    std::function<void(const absl::Status&)> on_failed);

  // Adds one that stands by from `start` on.
  void Add(NodeId id, const std::string& address, const ProcessOptions& options, Timestamp start);

  SharedStorage* storage() { return &storage_; }
  std::vector<SimulatedProcess*> processes() const;
  // The one whose core runs; otherwise the one that was elected last.
  NodeId leader() const;

  void Kill(NodeId scheduler, bool silently);
  // Those that are down stand by again.
  void Start();
  // Asks all to end: those that stand by do at once.
  void Stop();

 private:
  void OnElected(Candidate* candidate);
  void OnStopped(Candidate* candidate, const absl::Status& status);

  const StandbyOptions options_;
  Simulator* const simulator_;
  const MakeCore make_core_;
  const std::function<void(const absl::Status&)> on_failed_;
  SharedStorage storage_;
  std::map<NodeId, std::unique_ptr<Candidate>> candidates_;
  NodeId last_elected_ = kSchedulerNode;
  bool is_asked_to_stop_ = false;
};

}  // namespace banyan

#endif  // BANYAN_SIM_LEADERSHIP_STANDBY_SCHEDULERS_H_
