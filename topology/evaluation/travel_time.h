// Computes how long bits are under way on a link. Pure function.
#ifndef BANYAN_TOPOLOGY_EVALUATION_TRAVEL_TIME_H_
#define BANYAN_TOPOLOGY_EVALUATION_TRAVEL_TIME_H_

#include <limits>

#include "topology/network_view.h"

namespace banyan {

// Returns the seconds, on average, from the last bit's leaving to its being there for who reads the connection in
// order. They are the propagation delay, and what lost packets add on a link that is kept busy. A lost packet comes a
// round trip later, and what the same connection sent in the meantime waits for it. Whoever waits for `arrivals` over
// links like this one waits for the latest. No more can be lost than of the `sent_bits` that the link carries. The rate
// is taken to be what it is with the losses.
double TravelSeconds(const NetworkLink& link, double arrivals = 1,
                     double sent_bits = std::numeric_limits<double>::infinity());

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_TRAVEL_TIME_H_
