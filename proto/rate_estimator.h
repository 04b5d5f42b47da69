// The choice of the estimate that decides about a link's rate. A value; thread-compatible.
#ifndef BANYAN_PROTO_RATE_ESTIMATOR_H_
#define BANYAN_PROTO_RATE_ESTIMATOR_H_

#include <cstdint>

namespace banyan {

enum class RateEstimator : uint8_t {
  kDelivery,     // what arrives between two acknowledgements (awareness/delivery_rate_estimator.h)
  kOneWayDelay,  // NETSTORM's Eq. 14: a chunk's size over its time under way (awareness/one_way_delay_estimator.h)
};

// Returns the name of `estimator` in the overlay's file.
inline constexpr const char* NameOf(RateEstimator estimator) {
  return estimator == RateEstimator::kDelivery ? "delivery" : "one_way_delay";
}

}  // namespace banyan

#endif  // BANYAN_PROTO_RATE_ESTIMATOR_H_
