// What no rate, price or cut reaches.
#ifndef BANYAN_TOPOLOGY_PACKING_INFINITE_H_
#define BANYAN_TOPOLOGY_PACKING_INFINITE_H_

#include <limits>

namespace banyan {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_INFINITE_H_
