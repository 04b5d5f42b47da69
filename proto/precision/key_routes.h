// The precision routes of a key's slices in a round: what its binding tells apart within one tensor, such as the
// parameters in a flattened bucket. Fixed with the round's policy, the same on every member. A value.
#ifndef BANYAN_PROTO_PRECISION_KEY_ROUTES_H_
#define BANYAN_PROTO_PRECISION_KEY_ROUTES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

// How the gradients of a key travel in a round, as NEURON-Fabric (Wang, Huang and Lung, 2026) counts them: L is
// low-bit, F is FP32 where an admitted route was vetoed, P is plain FP32. Only sums go low-bit: a broadcast or a flush
// of a low-bit round travels as floats.
enum class PrecisionRoute : uint8_t { kPlain = 0, kFallback = 1, kLowBit = 2 };
// The greatest of them.
inline constexpr PrecisionRoute kLastPrecisionRoute = PrecisionRoute::kLowBit;

inline absl::string_view RouteName(PrecisionRoute route) {
  return route == PrecisionRoute::kLowBit ? "low-bit" : route == PrecisionRoute::kFallback ? "fallback" : "plain";
}

class KeyRoutes {
 public:
  // Slices of one key.
  static constexpr size_t kMostSlices = 32;

  // Of a key that is one slice; of others, the first is on this route and the rest are plain.
  KeyRoutes(PrecisionRoute route = PrecisionRoute::kPlain) : bits_(static_cast<uint64_t>(route)) {}  // NOLINT
  // As bits() had it. REQUIRES: IsRoutes(bits).
  static KeyRoutes OfBits(uint64_t bits) {
    KeyRoutes routes;
    routes.bits_ = bits;
    return routes;
  }
  // True if each slice has a route.
  static bool IsRoutes(uint64_t bits) {
    for (; bits != 0; bits >>= kBits) {
      if ((bits & kMask) > static_cast<uint64_t>(kLastPrecisionRoute)) return false;
    }
    return true;
  }

  // REQUIRE: slice < kMostSlices.
  PrecisionRoute Of(size_t slice) const { return static_cast<PrecisionRoute>((bits_ >> (kBits * slice)) & kMask); }
  void Set(size_t slice, PrecisionRoute route) {
    bits_ = (bits_ & ~(kMask << (kBits * slice))) | (static_cast<uint64_t>(route) << (kBits * slice));
  }
  // For messages: the routes of all slices up to the last that is not plain.
  std::string Text() const {
    std::string text(RouteName(Of(0)));
    for (size_t slice = 1; slice < kMostSlices && (bits_ >> (kBits * slice)) != 0; ++slice)
      text += "," + std::string(RouteName(Of(slice)));
    return text;
  }
  // Two bits a slice, the first one's lowest.
  uint64_t bits() const { return bits_; }

  friend auto operator<=>(const KeyRoutes&, const KeyRoutes&) = default;

 private:
  static constexpr size_t kBits = 2;
  static constexpr uint64_t kMask = 3;

  uint64_t bits_;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_KEY_ROUTES_H_
