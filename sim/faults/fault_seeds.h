// Seeds of the fault simulation that once broke a rule, each with what it was; they run whatever the number of seeds.
#ifndef BANYAN_SIM_FAULTS_FAULT_SEEDS_H_
#define BANYAN_SIM_FAULTS_FAULT_SEEDS_H_

#include <vector>

#include "sim/regression_seeds.h"

namespace banyan {

inline const std::vector<RegressionSeed> kFaultRegressionSeeds = {};

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_FAULT_SEEDS_H_
