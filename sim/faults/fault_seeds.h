// Seeds of the fault simulation that once broke a rule, each with what it was; they run whatever the number of seeds.
#ifndef BANYAN_SIM_FAULTS_FAULT_SEEDS_H_
#define BANYAN_SIM_FAULTS_FAULT_SEEDS_H_

#include <vector>

#include "sim/regression_seeds.h"

namespace banyan {

inline const std::vector<RegressionSeed> kFaultRegressionSeeds = {
    {0, "a node that came back to a job that was over took that for a failure"},
    {5, "the start failed, since only an absent node connected those who had joined"},
    {12, "a restarted scheduler had forgotten delays, and sent another slice under the same version"},
    {107, "those who came late waited for a way to each other over members that had finished"},
    {223, "a node that was restarted before the start was refused, since its former start seemed to be there"},
    {259, "a worker that died before the start made the start wait for ever"},
    {287, "a link without which there is no plan was left out for a minute"},
    {690, "a member that had finished and fell out did not come back to pass chunks on"},
    {731, "a restarted scheduler refused the policy that it had made without a link"},
    {836, "a node that was silent at the start got the plan and no policy"},
};

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_FAULT_SEEDS_H_
