// What sending may cost in money. A round costs what each link charges for the bytes that cross it, whatever its rate.
// A plan costs the volumes of its half trees times what their links charge, which is limited per bit of the model. A
// value.
#ifndef BANYAN_TOPOLOGY_PACKING_PRICE_LIMIT_H_
#define BANYAN_TOPOLOGY_PACKING_PRICE_LIMIT_H_

#include <algorithm>
#include <vector>

#include "topology/network_view.h"
#include "topology/packing/half_tree.h"

namespace banyan {

// Any unit, such as a price for 10^9 bytes, that is the same for all.
struct PriceLimit {
  PriceLimit(const NetworkView& view, double limit) : most(limit) {
    for (const NetworkLink& link : view.links()) link_prices.push_back(link.price_per_gb);
  }

  double PriceOf(const HalfTree& half) const {
    double price = 0;
    for (const size_t link : half.links) price += link_prices[link];
    return price;
  }

  // What the numbers are about as large as; above 0.
  double Scale() const {
    const double dearest = *std::max_element(link_prices.begin(), link_prices.end());
    return most > 0 ? most : dearest > 0 ? dearest : 1;
  }

  std::vector<double> link_prices;  // by link
  double most = 0;                  // that a bit of the model may pay, summed over all links that it crosses
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_PRICE_LIMIT_H_
