#include "core/random.h"

#include <bit>

#include "core/check.h"

namespace banyan {
namespace {

uint64_t SplitMix(uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::Below(uint64_t bound) {
  BANYAN_CHECK(bound > 0);
  // Values under `threshold` would make the low remainders more likely: draw again.
  const uint64_t threshold = -bound % bound;
  uint64_t value = Next();
  while (value < threshold) value = Next();
  return value % bound;
}

int64_t Random::Between(int64_t low, int64_t high) {
  BANYAN_CHECK(low <= high);
  const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (width == UINT64_MAX) return static_cast<int64_t>(Next());
  return static_cast<int64_t>(static_cast<uint64_t>(low) + Below(width + 1));
}

double Random::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

bool Random::Chance(double probability) { return Unit() < probability; }

Random Random::Fork() { return Random(Next()); }

}  // namespace banyan
