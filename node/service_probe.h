// Measures how fast this node works on floats and votes, before rounds do: on a small sample, by the computations of
// rounds themselves. ComputationTable has the outcome.
#ifndef BANYAN_NODE_SERVICE_PROBE_H_
#define BANYAN_NODE_SERVICE_PROBE_H_

#include "node/computation_table.h"
#include "node/step_context.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// Starts the work; its results are dropped. `computations` outlives it.
void MeasureServices(StepContext& step, ComputationTable* computations, const VoteRules& rules);

}  // namespace banyan

#endif  // BANYAN_NODE_SERVICE_PROBE_H_
