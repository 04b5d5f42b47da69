// A job on a full mesh of nodes, for tests of the scheduler: its overlay, its nodes' joins, and the parts of
// SchedulerCore that others build on. Thread-compatible; owned by the test.
#ifndef BANYAN_SCHEDULER_TESTING_MESH_JOB_H_
#define BANYAN_SCHEDULER_TESTING_MESH_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "protocol/action.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/scheduler_context.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Nodes n1..n<count> in a full mesh of links of 100 Mbit/s, with heartbeats of 1 s and 5 s until a node is lost. Each
// round is asked for, unless `more`, which is appended to the YAML, has a `policy`.
std::string MeshYaml(int count, const std::string& more = "");
OverlayConfig MeshOverlay(int count, const std::string& more = "");

// The connection on which n<node> joins, and its join.
ConnectionId MeshConnection(int node);
Join MeshJoin(int node, uint64_t incarnation = 1);

// The job of a mesh without a SchedulerCore. Reads what the parts send, and makes records durable at once.
class MeshJob {
 public:
  explicit MeshJob(int count, const std::string& more = "");

  // All nodes join.
  void JoinAll();
  // All nodes join and the job runs.
  void Start();

  // Messages of one kind that were sent to n<node> since Forget, in order.
  template <typename T>
  std::vector<T> Sent(int node) {
    Read();
    std::vector<T> found;
    for (const Message& message : sent_[MeshConnection(node)]) {
      if (const T* match = std::get_if<T>(&message); match != nullptr) found.push_back(*match);
    }
    return found;
  }
  void Forget();
  // All records so far.
  const std::vector<StateRecord>& Records();
  bool HasLog(const std::string& part);
  // Returns whether the connection of n<node> was closed.
  bool Closed(int node);
  // Hands over the last computation that was started, if one was.
  std::optional<StartComputation> TakeComputation();

  // While false, records wait and hold messages back.
  bool persists = true;
  OverlayConfig overlay;
  SchedulerContext context;
  JobState job;
  JobMembers members;

 private:
  void Read();
  void Take(Action& action);

  std::map<ConnectionId, std::vector<Message>> sent_;
  std::vector<StateRecord> records_;
  std::vector<RecordId> pending_;
  std::vector<std::string> logs_;
  std::set<ConnectionId> closed_;
  std::optional<StartComputation> computation_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_TESTING_MESH_JOB_H_
