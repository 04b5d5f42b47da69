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
    {339, "a node left while a slower one still pulled the last result"},
    {1675, "a node left while a slower one still pulled the last result"},
    {115, "two relays refused each other's chunks for ever"},
    {1001, "two relays refused each other's chunks for ever"},
    {324, "a chunk was sent again and again after its round was closed everywhere and its policy retired"},
    {1346, "a chunk was sent again and again after its round was closed everywhere and its policy retired"},
    {2866, "a chunk was sent again when its sender's fast clock said so, and the checker's did not"},
    {14266, "a policy was retired before a node that was away had seen it, and others took its silence for its end"},
    {15690, "a policy was retired before a node that was away had seen it, and others took its silence for its end"},
    {18642, "a policy was retired before a node that was away had seen it, and others took its silence for its end"},
    {2057, "after a pause copies were sent of chunks whose acks were still to be read"},
    {3560, "the pace of a link that carries single small chunks fell with its rate, and its rate with its pace"},
    {4885, "the checker took the copy of an acknowledged chunk for one that needs credit"},
};

}  // namespace banyan

#endif  // BANYAN_SIM_REGRESSION_SEEDS_H_
