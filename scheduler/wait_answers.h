// Says for whom the members of a job wait, in words for time-outs, logs and `status`. What nodes have pushed is as old
// as their last reports. Thread-compatible; made for one question.
#ifndef BANYAN_SCHEDULER_WAIT_ANSWERS_H_
#define BANYAN_SCHEDULER_WAIT_ANSWERS_H_

#include <string>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "scheduler/members/membership.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/open_round.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

class WaitAnswers {
 public:
  // Everything outlives the answer.
  struct Sources {
    const OverlayConfig& overlay;
    const Membership& membership;
    const NodeReports& reports;
    const KeyTable& keys;
    const JobRounds& rounds;
    bool is_running = false;
    std::string change;                        // for what a change of membership waits; empty when none is under way
    std::string transfer;                      // who fetches the training state, and what it waits for; empty: nobody
    std::vector<NodeId> barrier;               // members that have not entered the barrier in which others wait
    std::string disorder = {};                 // how nodes differ that wait for one another; empty: they do not
    std::string cut = {};                      // for whom a cut of leases waits; empty when none is under way
    std::vector<std::string> lately_out = {};  // why links were planned without that are used again now
    std::string storage = {};  // for how long the storage of the state has stood; empty when it does not
  };

  explicit WaitAnswers(Sources sources) : from_(std::move(sources)) {}

  // Completes "... waits for ".
  std::string Answer(const WaitQuestion& question) const;
  // Names who has not pushed the round, or else who does not hold its result.
  std::string Describe(const OpenRound& open) const;

 private:
  // What holds up everything; empty when nothing does.
  std::string DescribeJob() const;
  // What those wait for who ask for a round that is closed.
  std::string DescribeClosed(Round round) const;
  // "worker 1 of n2", or the node where all its workers are missing.
  std::string NameOf(NodeId node, KeyId key, Round round) const;
  // Names the links over which small messages pass and chunks do not, and those that were out a moment ago, each after
  // a "; ".
  std::string DoubtfulLinks() const;
  std::string NamesOf(const std::vector<NodeId>& nodes, KeyId key, Round round) const;

  Sources from_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_WAIT_ANSWERS_H_
