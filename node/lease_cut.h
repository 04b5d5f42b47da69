// A node's part in ending leases early.
#ifndef BANYAN_NODE_LEASE_CUT_H_
#define BANYAN_NODE_LEASE_CUT_H_

#include "node/policy_book.h"
#include "node/rounds/round_engine.h"
#include "node/scheduler_client.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// Forgets in `book` what policies before the one sought govern of the rounds that `engine` has not begun, and has
// `scheduler` asked for them. Returns the answer, whose promise needs nothing else: a round without a policy does not
// begin.
inline CutBound CutLeases(const CutSought& sought, const RoundEngine& engine, PolicyBook& book,
                          SchedulerClient& scheduler) {
  CutBound bound = {sought.epoch, sought.policy, {}};
  for (const auto& [key, row] : book.keys()) {
    const Round first = engine.FirstNotBegun(key);
    bound.rounds.push_back({key, first});
    if (book.EndLeases(key, first, sought.policy)) scheduler.WantPolicy(key, first);
  }
  return bound;
}

}  // namespace banyan

#endif  // BANYAN_NODE_LEASE_CUT_H_
