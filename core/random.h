// The seeded random numbers of cores and simulator: the same seed gives the same sequence with every compiler, which
// the standard library's distributions do not promise. Thread-compatible; owned by whoever seeds it.
#ifndef BANYAN_CORE_RANDOM_H_
#define BANYAN_CORE_RANDOM_H_

#include <cstdint>

namespace banyan {

// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018), seeded through
// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed);

  // Uniform over all 64-bit values.
  uint64_t Next();
  // Uniform in [0, bound). REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound);
  // Uniform in [low, high]. REQUIRES: low <= high.
  int64_t Between(int64_t low, int64_t high);
  // Uniform in [0, 1), with 53 bits.
  double Unit();
  // True with probability `probability`.
  bool Chance(double probability);
  // A generator whose sequence is independent of what this one gives afterwards.
  Random Fork();

 private:
  uint64_t state_[4];
};

}  // namespace banyan

#endif  // BANYAN_CORE_RANDOM_H_
