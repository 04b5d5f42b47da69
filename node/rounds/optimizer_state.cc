#include "node/rounds/optimizer_state.h"

#include <utility>

#include "core/check.h"

namespace banyan {

int OptimizerState::Moments(AggregationOp op) {
  if (!IsOptimizer(op) || op == AggregationOp::kSgd) return 0;
  return op == AggregationOp::kAdam ? 2 : 1;
}

void OptimizerState::Restore(uint64_t steps, Buffer first_moment, Buffer second_moment) {
  steps_ = steps;
  first_moment_ = std::move(first_moment);
  second_moment_ = std::move(second_moment);
}

OptimizerSlices OptimizerState::Slices(int64_t first_element, int64_t elements) {
  BANYAN_CHECK(first_element >= 0 && elements > 0 && elements <= elements_ - first_element);
  OptimizerSlices slices{.step = steps_ + 1, .first_moment = {}, .second_moment = {}};
  const int moments = Moments(op_);
  if (moments == 0) return slices;
  if (first_moment_.empty()) first_moment_ = Buffer::Allocate(elements_);
  slices.first_moment = first_moment_.Slice(first_element, elements);
  if (moments == 1) return slices;
  if (second_moment_.empty()) second_moment_ = Buffer::Allocate(elements_);
  slices.second_moment = second_moment_.Slice(first_element, elements);
  return slices;
}

}  // namespace banyan
