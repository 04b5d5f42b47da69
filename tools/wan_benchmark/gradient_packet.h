// A datagram with 365 numbers of a rotated gradient, the most important bits first, so that a switch may cut it: all
// signs, all next 15 bits, all last 16 (Chen, Vargaftik, Ben Basat, "When ML Training Cuts Through Congestion", HotNets
// 2024, section 2). Pure functions.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_GRADIENT_PACKET_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_GRADIENT_PACKET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace banyan {

inline constexpr size_t kDatagramNumbers = 365;
inline constexpr size_t kPacketHeaderBytes = 8;
// Where a packet may be cut: behind the signs, and behind the first 16 bits.
inline constexpr size_t kSignsEnd = kPacketHeaderBytes + (kDatagramNumbers + 7) / 8;
inline constexpr size_t kHalvesEnd = kSignsEnd + (15 * kDatagramNumbers + 7) / 8;
inline constexpr size_t kWholePacket = kHalvesEnd + 2 * kDatagramNumbers;

struct GradientPacket {
  uint16_t sender = 0;
  uint16_t position = 0;  // among the sender's packets
  float head = 0;         // what a sign alone decodes to
  std::array<float, kDatagramNumbers> numbers = {};
};

// Returns kWholePacket bytes.
std::vector<uint8_t> PackGradient(const GradientPacket& packet);

// Of a packet that is whole or was cut; empty where there are less than the signs.
std::optional<GradientPacket> UnpackGradient(absl::Span<const uint8_t> bytes);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_GRADIENT_PACKET_H_
