#include "node/rounds/optimizer_state.h"

#include "core/check.h"

namespace banyan {

OptimizerSlices OptimizerState::Slices(int64_t first_element, int64_t elements) {
  BANYAN_CHECK(first_element >= 0 && elements > 0 && elements <= elements_ - first_element);
  OptimizerSlices slices{.step = steps_ + 1, .first_moment = {}, .second_moment = {}};
  if (!IsOptimizer(op_) || op_ == AggregationOp::kSgd) return slices;
  if (first_moment_.empty()) first_moment_ = Buffer::Allocate(elements_);
  slices.first_moment = first_moment_.Slice(first_element, elements);
  if (op_ != AggregationOp::kAdam) return slices;
  if (second_moment_.empty()) second_moment_ = Buffer::Allocate(elements_);
  slices.second_moment = second_moment_.Slice(first_element, elements);
  return slices;
}

}  // namespace banyan
