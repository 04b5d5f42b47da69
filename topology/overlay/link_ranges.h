// What an overlay may say of a link: the least and the most.
#ifndef BANYAN_TOPOLOGY_OVERLAY_LINK_RANGES_H_
#define BANYAN_TOPOLOGY_OVERLAY_LINK_RANGES_H_

namespace banyan {

inline constexpr double kMostSeconds = 1e8;
inline constexpr double kLeastMbps = 1e-6;
inline constexpr double kMostMbps = 1e6;

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_LINK_RANGES_H_
