#include "fuzz/fuzz_target.h"

namespace banyan {

const std::vector<FuzzTarget>& FuzzTargets() {
  static const auto* const kTargets = [] {
    auto* const all = new std::vector<FuzzTarget>();
    for (const auto& part : {MessageTargets(), ChunkTargets(), RecordTargets(), TextTargets()}) {
      all->insert(all->end(), part.begin(), part.end());
    }
    return all;
  }();
  return *kTargets;
}

const FuzzTarget* FindFuzzTarget(absl::string_view name) {
  for (const FuzzTarget& target : FuzzTargets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace banyan
