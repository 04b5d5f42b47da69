#include "node/optimizer_state.h"

#include <iterator>

#include "core/check.h"

namespace banyan {
namespace {

bool HasFirstMoment(AggregationOp op) { return IsOptimizer(op) && op != AggregationOp::kSgd; }

}  // namespace

OptimizerSlices OptimizerState::BeginStep(int64_t first_element, int64_t elements) {
  BANYAN_CHECK(first_element >= 0 && elements > 0);
  auto [range, is_new] = ranges_.try_emplace(first_element, Range{.elements = elements, .slices = {}});
  if (is_new) {
    const auto next = std::next(range);
    BANYAN_CHECK(next == ranges_.end() || elements <= next->first - first_element);
    BANYAN_CHECK(range == ranges_.begin() ||
                 std::prev(range)->second.elements <= first_element - std::prev(range)->first);
    if (HasFirstMoment(op_)) range->second.slices.first_moment = Buffer::Allocate(elements);
    if (op_ == AggregationOp::kAdam) range->second.slices.second_moment = Buffer::Allocate(elements);
  }
  BANYAN_CHECK(range->second.elements == elements);
  ++range->second.slices.step;
  return range->second.slices;
}

int64_t OptimizerState::size_bytes() const {
  int64_t size_bytes = 0;
  for (const auto& [first, range] : ranges_) {
    size_bytes += range.slices.first_moment.size_bytes() + range.slices.second_moment.size_bytes();
  }
  return size_bytes;
}

}  // namespace banyan
