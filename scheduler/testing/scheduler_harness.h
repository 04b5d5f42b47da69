// Drives a SchedulerCore in tests: hands it events, keeps its records, runs its computations at once, and remembers
// what it sent on which connection. Thread-compatible; owned by the test.
#ifndef BANYAN_SCHEDULER_TESTING_SCHEDULER_HARNESS_H_
#define BANYAN_SCHEDULER_TESTING_SCHEDULER_HARNESS_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/scheduler_core.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {

class SchedulerHarness {
 public:
  explicit SchedulerHarness(OverlayConfig overlay, StoredRecords stored = {},
                            size_t least_tail_bytes = StateLog::kLeastTailBytes);
  SchedulerHarness(OverlayConfig overlay, SchedulerOptions options);
  ~SchedulerHarness();

  void Step(Event event);
  void Receive(ConnectionId connection, Message message);
  // From the connection that Join or Connected gave the node.
  void Receive(int node, Message message) { Receive(ConnectionOf(node), std::move(message)); }
  // Lets time pass, with heartbeats of `alive` each second.
  void Advance(absl::Duration duration, const std::vector<int>& alive = {});
  // Lets time pass while the core gets no event at all.
  void Sleep(absl::Duration duration) { now_ = now_ + duration; }

  static ConnectionId ConnectionOf(int node) { return MeshConnection(node); }
  static Join JoinOf(int node, uint64_t incarnation = 1) { return MeshJoin(node, incarnation); }
  // Nodes 1..count join.
  void JoinAll(int count);
  // JoinAll, and then everything sent so far is forgotten.
  void StartJob(int count);
  // Makes the key known to everybody.
  KeyId AddKey(const std::string& name, int64_t elements);
  void CloseRound(KeyId key, Round round, int count, uint64_t hash = 7);

  // Lets the batch of causes pass, so that a change of membership begins.
  void BeginEpoch(const std::vector<int>& alive);
  // The nodes say that they hold all rounds before `next` of the first `keys` keys, for the epoch that they were last
  // told of.
  void ReportProgress(const std::vector<int>& nodes, Round next, uint32_t keys = 1);

  // Messages of one kind that were sent on a connection, in order.
  template <typename T>
  std::vector<T> Sent(ConnectionId connection) const {
    std::vector<T> found;
    const auto sent = sent_.find(connection);
    if (sent == sent_.end()) return found;
    for (const Message& message : sent->second) {
      if (const T* match = std::get_if<T>(&message); match != nullptr) found.push_back(*match);
    }
    return found;
  }
  template <typename T>
  std::vector<T> Sent(int node) const {
    return Sent<T>(ConnectionOf(node));
  }
  const std::vector<Message>& AllSent(int node) { return sent_[ConnectionOf(node)]; }
  void ForgetSent() { sent_.clear(); }

  // While false, records and computations wait in these lists.
  bool persists = true;
  bool computes = true;
  void PersistWaiting();
  void ComputeWaiting();
  size_t waiting_computations() const { return waiting_computations_.size(); }

  // What the core has made durable, and the records after the last snapshot.
  const StoredRecords& stored() const { return stored_; }
  const std::vector<std::string>& records() const { return stored_.tail; }
  // All records that this core has made durable, whatever snapshots took their place.
  const std::vector<std::string>& history() const { return history_; }
  size_t stored_bytes() const { return stored_.snapshot.size() + tail_bytes_; }
  const std::vector<LogLine>& logs() const { return logs_; }
  // The keys that come in, empty before any were told.
  const std::vector<ListedKey>& admitted() const { return admitted_; }
  bool HasLog(const std::string& part) const;
  const std::optional<absl::Status>& stopped() const { return stopped_; }
  const SchedulerCore& core() const { return *core_; }
  Timestamp now() const { return now_; }
  // The epoch that nodes were told of last.
  Epoch epoch() const { return epoch_; }

 private:
  void Carry(Actions actions);
  void Store(PersistRecord record);

  std::unique_ptr<SchedulerCore> core_;
  Timestamp now_;
  Epoch epoch_;
  std::map<ConnectionId, std::vector<Message>> sent_;
  StoredRecords stored_;
  std::vector<std::string> history_;
  size_t tail_bytes_ = 0;
  std::deque<PersistRecord> waiting_records_;
  std::vector<StartComputation> waiting_computations_;
  std::vector<LogLine> logs_;
  std::vector<ListedKey> admitted_;
  std::optional<absl::Status> stopped_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_TESTING_SCHEDULER_HARNESS_H_
