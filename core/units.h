// Decimal units as people write them, in base units.
#ifndef BANYAN_CORE_UNITS_H_
#define BANYAN_CORE_UNITS_H_

namespace banyan {

inline constexpr double kBitsPerMegabit = 1e6;
inline constexpr double kBytesPerMegabyte = 1e6;

}  // namespace banyan

#endif  // BANYAN_CORE_UNITS_H_
