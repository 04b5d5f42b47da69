// A node core for tests of sessions: one worker or several, no other node. A round's result is the sum of the workers'
// gradients; the values of worker 0 win an Init or a Broadcast. May keep gradients until the round after is pushed, as
// a node that waits for the round to be closed everywhere. Thread-compatible; owned by its driver.
#ifndef BANYAN_RUNTIME_TESTING_TESTING_NODE_H_
#define BANYAN_RUNTIME_TESTING_TESTING_NODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "protocol/action.h"
#include "protocol/event.h"
#include "protocol/protocol.h"

namespace banyan {

struct TestingNodeOptions {
  uint32_t workers = 1;
  uint32_t rounds_in_flight = 1;
  bool may_leave_out = false;
  bool keeps_gradients = true;
  // Nodes of the job before this one, n-1 and so on, of two workers each.
  int nodes_before = 1;
  // Rounds from this one on never finish.
  std::optional<uint64_t> hold_from = std::nullopt;
  // A push of this round fails the job.
  std::optional<uint64_t> fail_at = std::nullopt;
  // Told, for each worker that leaves, whether it did so cleanly; on the protocol thread.
  std::function<void(bool clean)> on_detach = {};
  // Told the weights that a worker registers; on the protocol thread.
  std::function<void(absl::Span<const float> weights)> on_weights = {};
};

class TestingNode : public Protocol {
 public:
  explicit TestingNode(TestingNodeOptions options) : options_(options) {}

  Actions Step(Timestamp now, Event event) override;
  Timestamp NextDeadline() const override { return kNever; }

 private:
  struct Part {
    RequestId request;
    Buffer values;
    bool wants_result = true;
  };
  struct Key {
    KeyId id;
    std::map<WorkerId, Part> parts;  // of the open round
    std::map<WorkerId, std::vector<Buffer>> kept;
    std::map<WorkerId, RequestId> pulls;
    Buffer result;       // of the sum type
    uint64_t round = 0;  // the open one
    bool broadcast = true;
    bool complete = false;
  };

  void On(WorkerAttach& call);
  void On(WorkerDetach& call);
  void On(WorkerInit& call);
  void On(WorkerPush& call);
  void On(WorkerPull& call);
  void On(WorkerBroadcast& call);
  void On(WorkerBarrier& call);
  void On(WorkerReportLoss& call);
  void On(WorkerRegisterWeights& call);
  void On(WorkerDescribeWait& call);

  void Take(Key& key, WorkerId worker, Part part, bool broadcast);
  void Finish(Key& key);
  void Deliver(RequestId request, const Key& key);
  void Complete(RequestId request, absl::Status status, KeyId key = KeyId(), Round round = Round());
  void Fail();

  const TestingNodeOptions options_;
  Actions actions_;
  std::set<WorkerId> attached_;
  std::map<std::string, KeyId> names_;
  std::map<KeyId, Key> keys_;
  std::vector<RequestId> barrier_;
  absl::Status failed_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TESTING_TESTING_NODE_H_
