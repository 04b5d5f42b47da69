// A TCP packet as a TUN device with offload gives it, for tests. Pure.
#ifndef BANYAN_WAN_TESTING_TESTING_PACKET_H_
#define BANYAN_WAN_TESTING_TESTING_PACKET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wan/offload_packet.h"

namespace banyan {

// The sequence number of the packet's first byte.
inline constexpr uint32_t kTestingSequence = 0xfffffff0;
// The positions at which its parts begin.
inline constexpr size_t kTestingIp = sizeof(OffloadHeader);
inline constexpr size_t kTestingTcp = kTestingIp + 20;
inline constexpr size_t kTestingPayload = kTestingTcp + 32;

// From 10.99.0.1 to 10.99.0.2, with 12 bytes of TCP options and the flags CWR, ACK, PSH and FIN; byte i of what it
// carries is i mod 251. `segment_payload` 0: not to be cut.
std::vector<uint8_t> TestingTcpPacket(size_t payload, uint16_t segment_payload);

}  // namespace banyan

#endif  // BANYAN_WAN_TESTING_TESTING_PACKET_H_
