// The conversation with members about quorums: takes what they have pushed, and tells all up to which rounds a quorum
// has. Thread-compatible; owned by the core.
#ifndef BANYAN_SCHEDULER_ROUNDS_JOB_QUORUM_H_
#define BANYAN_SCHEDULER_ROUNDS_JOB_QUORUM_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ids.h"
#include "proto/message_parts.h"
#include "proto/scheduler_messages.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/rounds/key_table.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Counts the members that have pushed rounds of each key, and says when they are a quorum: nodes whose workers are late
// then go on without them after the grace. The scheduler counts since every node reaches it alike: sums that wait at an
// inner node for its own late worker never get to the root. Thread-compatible; owned by the core.
//
// Invariants:
// - What it says is a hint, and nothing of it is durable. A node that hears nothing waits for its workers, and one that
//   hears too much contributes early: a round has one result and loses nothing either way.
// - Of each key it says a round once at most, and none lower, until Restart.
class QuorumCounter {
 public:
  // A member and how many workers it has.
  struct Weight {
    NodeId node;
    uint32_t workers = 0;
    friend bool operator==(const Weight&, const Weight&) = default;
  };

  struct Outcome {
    std::vector<KeyProgressRun> news;    // up to here a quorum has pushed keys, since this report
    std::vector<KeyProgressRun> missed;  // the same of before, where the node is behind: it may not have heard of it
  };

  // `quorum`: the share of all members' workers that is one. 0: there never is.
  explicit QuorumCounter(double quorum) : quorum_(quorum) {}

  bool is_on() const { return quorum_ > 0; }
  // Takes how far `node` is with keys, and says what it means for a quorum of the `members`.
  Outcome Report(NodeId node, const std::vector<KeyProgressRun>& runs, const std::vector<Weight>& members);
  // Returns up to where a quorum has pushed keys now that these are the members' workers, where that is news.
  std::vector<KeyProgressRun> Review(const std::vector<Weight>& members);
  // Forgets all: another set of members reports what it has pushed.
  void Restart() { keys_.clear(); }

 private:
  struct Key {
    std::map<NodeId, Round> pushed;
    Round reached;
  };

  // Returns the last round that a quorum of the members has pushed; 0 when there is none.
  Round Reached(const Key& key, const std::vector<Weight>& members) const;

  double quorum_;
  std::map<KeyId, Key> keys_;
};

class JobQuorum {
 public:
  // All outlive this.
  JobQuorum(const OverlayConfig* overlay, const JobState* job, JobMembers* members, const NodeReports* reports,
            const KeyTable* keys)
      : overlay_(overlay),
        job_(job),
        members_(members),
        reports_(reports),
        keys_(keys),
        counter_(overlay->aggregation.quorum) {}

  // Takes a node's report. One about keys that there are not is rejected.
  void On(NodeId node, const RoundsPushed& pushed) {
    if (!job_->IsRunning() || !counter_.is_on()) return;
    for (const KeyProgressRun& run : pushed.runs) {
      const KeyId last(run.key.value() + run.more_keys);
      if (keys_->Contains(run.key) && keys_->Contains(last)) continue;
      return members_->Reject(node, absl::StrCat("pushes of key ", last.value(), ", which there is not"));
    }
    QuorumCounter::Outcome outcome = counter_.Report(node, pushed.runs, Weights());
    Tell(std::move(outcome.news));
    SendInParts(std::move(outcome.missed), [this, node](std::vector<KeyProgressRun> part) {
      members_->SendTo(node, QuorumReached{job_->term(), std::move(part)});
    });
  }
  // A node may have lost its workers, or have some again: whoever has none is not waited for.
  void OnWorkersChanged() {
    if (!job_->IsRunning() || !counter_.is_on()) return;
    std::vector<QuorumCounter::Weight> weights = Weights();
    if (std::exchange(weights_, weights) != weights) Tell(counter_.Review(weights));
  }
  // The members change: they say again what they have pushed.
  void OnMembersChanged() { counter_.Restart(); }

 private:
  void Tell(std::vector<KeyProgressRun> news) {
    SendInParts(std::move(news), [this](std::vector<KeyProgressRun> part) {
      members_->Broadcast(QuorumReached{job_->term(), std::move(part)});
    });
  }

  std::vector<QuorumCounter::Weight> Weights() const {
    std::vector<QuorumCounter::Weight> weights;
    for (const NodeId node : members_->table().Members()) {
      const Member& member = members_->table().Find(node);
      const bool has_none = member.is_workerless || IsHelper(member, reports_->Find(node));
      weights.push_back({node, has_none ? 0 : static_cast<uint32_t>(overlay_->nodes[node.value() - 1].workers)});
    }
    return weights;
  }

  const OverlayConfig* overlay_;
  const JobState* job_;
  JobMembers* members_;
  const NodeReports* reports_;
  const KeyTable* keys_;
  QuorumCounter counter_;
  std::vector<QuorumCounter::Weight> weights_;  // of the last look
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_JOB_QUORUM_H_
