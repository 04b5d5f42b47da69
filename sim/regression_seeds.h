// Seeds of the safety test that once broke a rule, each with what it was; they run whatever the number of seeds.
#ifndef BANYAN_SIM_REGRESSION_SEEDS_H_
#define BANYAN_SIM_REGRESSION_SEEDS_H_

#include <cstdint>
#include <vector>

namespace banyan {

struct RegressionSeed {
  uint64_t seed;
  const char* what_broke;
};

inline const std::vector<RegressionSeed> kRegressionSeeds = {
    {159, "a node left while a slower one still pulled the last result"},
    {239, "likewise"},
    {2909, "two relays refused each other's chunks for ever"},
    {1966, "grants brought back more than a relay had room for, and nothing passed"},
    {5279, "likewise"},
};

}  // namespace banyan

#endif  // BANYAN_SIM_REGRESSION_SEEDS_H_
