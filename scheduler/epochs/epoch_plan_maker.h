// Makes the plan of an epoch out of what is bound and what members hold. Pure functions.
#ifndef BANYAN_SCHEDULER_EPOCHS_EPOCH_PLAN_MAKER_H_
#define BANYAN_SCHEDULER_EPOCHS_EPOCH_PLAN_MAKER_H_

#include "core/ids.h"
#include "scheduler/epochs/epoch_reports.h"
#include "scheduler/policy/published_policies.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/state/state_record.h"

namespace banyan {

// Plans `epoch` under `policy`. Rounds that all survivors hold are closed, and without a survivor all that are bound.
// The other bound rounds are tried again, with the chunk size of their first policy, which is among `policies`.
// REQUIRES: the reports are complete.
EpochPlanRecord MakeEpochPlan(Epoch epoch, PolicyVersion policy, const EpochReports& reports, const KeyTable& keys,
                              const JobRounds& rounds, const PublishedPolicies& policies);

// Makes the plan as it is now, for a member that has missed it: what is bound to the oldest policy in force. Members
// ask for what later ones govern.
EpochPlanRecord RepeatEpochPlan(Epoch epoch, const KeyTable& keys, const JobRounds& rounds,
                                const PublishedPolicies& policies);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_EPOCH_PLAN_MAKER_H_
