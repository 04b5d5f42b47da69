#include "node/chunk_size.h"

#include <numeric>

namespace banyan {

int64_t FrameBytes(const ChunkMessage& message) {
  return std::accumulate(message.frames.begin(), message.frames.end(), int64_t{0},
                         [](int64_t sum, const FrameHeader& frame) { return sum + frame.size_bytes; });
}

int64_t WireBytes(const ChunkMessage& message, const Payload& payload) {
  return WireBytes(PayloadBytes(payload), message.route.path.size());
}

int64_t WireBytes(int64_t payload_bytes, size_t path_nodes) {
  return payload_bytes + kWireHeaderBytes + kWirePathEntryBytes * static_cast<int64_t>(path_nodes);
}

int64_t KeptBytes(const ChunkMessage& message, const Payload& payload) {
  return PayloadBytes(payload) + kMemoryHeaderBytes + kMemoryFrameBytes * static_cast<int64_t>(message.frames.size()) +
         static_cast<int64_t>(message.route.path.size() * sizeof(NodeId));
}

int64_t KeptBytes(int64_t chunks, int64_t elements) {
  return chunks * (elements * SizeOf(DataType::kFloat32) + 2 * kMemoryHeaderBytes);
}

}  // namespace banyan
