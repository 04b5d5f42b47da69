// Computes how long bits are under way on a link. Pure function.
#ifndef BANYAN_TOPOLOGY_EVALUATION_TRAVEL_TIME_H_
#define BANYAN_TOPOLOGY_EVALUATION_TRAVEL_TIME_H_

#include "topology/network_view.h"

namespace banyan {

// Returns the seconds, on average, from the last bit's leaving to its being there for who reads the connection in
// order. They are the propagation delay, and what lost packets add on a link that is kept busy. A lost packet comes a
// round trip later, and what the same connection sent in the meantime waits for it. The rate is taken to be what it is
// with the losses.
double TravelSeconds(const NetworkLink& link);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_TRAVEL_TIME_H_
