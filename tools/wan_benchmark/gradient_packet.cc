#include "tools/wan_benchmark/gradient_packet.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace banyan {
namespace {

constexpr int kMiddleBits = 15;
constexpr uint32_t kLowMask = 0xffff;
// The middle of what 16 bits leave open.
constexpr uint32_t kLowMiddle = 0x8000;

// Bit `bit` of number i, in planes as wide as `width`.
size_t BitAt(size_t first_byte, size_t i, int bit, int width) {
  return 8 * first_byte + i * static_cast<size_t>(width) + static_cast<size_t>(bit);
}

void Set(std::vector<uint8_t>& bytes, size_t at) { bytes[at / 8] |= static_cast<uint8_t>(1 << (at % 8)); }

uint32_t Get(absl::Span<const uint8_t> bytes, size_t at) { return (bytes[at / 8] >> (at % 8)) & 1; }

}  // namespace

std::vector<uint8_t> PackGradient(const GradientPacket& packet) {
  std::vector<uint8_t> bytes(kWholePacket);
  std::memcpy(&bytes[0], &packet.sender, sizeof(packet.sender));
  std::memcpy(&bytes[2], &packet.position, sizeof(packet.position));
  std::memcpy(&bytes[4], &packet.head, sizeof(packet.head));
  for (size_t i = 0; i < kDatagramNumbers; ++i) {
    const auto code = std::bit_cast<uint32_t>(packet.numbers[i]);
    if (code >> 31 != 0) Set(bytes, BitAt(kPacketHeaderBytes, i, 0, 1));
    for (int bit = 0; bit < kMiddleBits; ++bit) {
      if (((code >> (16 + bit)) & 1) != 0) Set(bytes, BitAt(kSignsEnd, i, bit, kMiddleBits));
    }
    const auto low = static_cast<uint16_t>(code & kLowMask);
    std::memcpy(&bytes[kHalvesEnd + 2 * i], &low, sizeof(low));
  }
  return bytes;
}

std::optional<GradientPacket> UnpackGradient(absl::Span<const uint8_t> bytes) {
  if (bytes.size() < kSignsEnd) return std::nullopt;
  GradientPacket packet;
  std::memcpy(&packet.sender, &bytes[0], sizeof(packet.sender));
  std::memcpy(&packet.position, &bytes[2], sizeof(packet.position));
  std::memcpy(&packet.head, &bytes[4], sizeof(packet.head));
  for (size_t i = 0; i < kDatagramNumbers; ++i) {
    const bool is_negative = Get(bytes, BitAt(kPacketHeaderBytes, i, 0, 1)) != 0;
    if (bytes.size() < kHalvesEnd) {
      packet.numbers[i] = is_negative ? -packet.head : packet.head;
      continue;
    }
    uint32_t code = is_negative ? uint32_t{1} << 31 : 0;
    for (int bit = 0; bit < kMiddleBits; ++bit) {
      code |= Get(bytes, BitAt(kSignsEnd, i, bit, kMiddleBits)) << (16 + bit);
    }
    uint16_t low = kLowMiddle;
    if (bytes.size() >= kWholePacket) std::memcpy(&low, &bytes[kHalvesEnd + 2 * i], sizeof(low));
    packet.numbers[i] = std::bit_cast<float>(code | low);
  }
  return packet;
}

}  // namespace banyan
