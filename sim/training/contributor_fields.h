// Gradients that say whose they are, so that a result tells who is in it and how often. Pure functions of the seed.
// Thread-compatible.
//
// Each worker has two bits of an integer: it contributes 1 in its place, and a second time would show as 2. All have
// the same sign, which each element has of its own in each round, so that a contribution to another round shows too.
// Sums are exact in float32. What is encoded with error feedback comes back in parts, over several rounds: in such
// tensors every worker has elements of its own instead, and zeros in all others. Where a mean may be of gradients of
// several rounds, all may push ones instead: it is one then, if it is divided by the number of gradients that are in
// it.
#ifndef BANYAN_SIM_TRAINING_CONTRIBUTOR_FIELDS_H_
#define BANYAN_SIM_TRAINING_CONTRIBUTOR_FIELDS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "sim/training/training_plan.h"

namespace banyan {

class ContributorFields : public GradientSource {
 public:
  static constexpr size_t kMostWorkers = 11;

  // The number of times that each worker is in a value, by its place in workers().
  using Counts = std::vector<uint8_t>;

  // `workers` in rising order. In the tensors of `spread` each has elements of its own. REQUIRES: at most kMostWorkers.
  ContributorFields(std::vector<WorkerName> workers, std::set<size_t> spread, uint64_t seed);

  // From now on all gradients and values are ones.
  void PushOnes() { are_ones_ = true; }
  bool are_ones() const { return are_ones_; }

  void Fill(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) override;
  void FillWeights(size_t tensor, absl::Span<float> values) override;

  // Return what a sum, or a mean, of contributions has at an element; empty when it is none. REQUIRES: the tensor is
  // not spread.
  std::optional<Counts> OfSum(size_t tensor, Round round, size_t element, float value) const;
  std::optional<Counts> OfMean(size_t tensor, Round round, size_t element, float value) const;

  const std::vector<WorkerName>& workers() const { return workers_; }
  bool IsSpread(size_t tensor) const { return spread_.contains(tensor); }

 private:
  bool IsNegative(size_t tensor, Round round, size_t element) const;
  std::optional<Counts> Decode(int64_t fields) const;

  const std::vector<WorkerName> workers_;
  const std::set<size_t> spread_;
  const uint64_t seed_;
  bool are_ones_ = false;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TRAINING_CONTRIBUTOR_FIELDS_H_
