// What a chunk weighs: its payload alone, on a link, and in this node's memory. The three differ in the header: packed
// on a link, a C++ object in memory. Pure functions; thread-safe.
//
// Invariants:
// - Of a chunk whose payload is what its header states, FrameBytes is less than WireBytes and less than KeptBytes: a
//   chunk without a payload weighs something too.
// - WireBytes depends on the payload and the path alone, so sender, relay and receiver agree on it.
#ifndef BANYAN_NODE_CHUNK_SIZE_H_
#define BANYAN_NODE_CHUNK_SIZE_H_

#include <cstddef>
#include <cstdint>

#include "core/buffer.h"
#include "proto/chunk_message.h"

namespace banyan {

// An encoded header without its path, about. A constant, so that credits do not depend on how large the numbers are.
inline constexpr int64_t kWireHeaderBytes = 64;
// One node of an encoded path.
inline constexpr int64_t kWirePathEntryBytes = 2;
// A decoded header with the containers that hold it, without what it allocates for its path and frames.
inline constexpr int64_t kMemoryHeaderBytes = 256;
// One decoded frame header and the handle of the frame's bytes.
inline constexpr int64_t kMemoryFrameBytes = sizeof(FrameHeader) + sizeof(Buffer);

// Returns the payload's bytes as the frame headers of `message` state them. Needs no payload, so an acknowledged chunk
// can be weighed too.
int64_t FrameBytes(const ChunkMessage& message);

// Returns what a chunk counts on a link: in windows, queues and statistics. A resend and a copy weigh the same.
int64_t WireBytes(const ChunkMessage& message, const Payload& payload);
// Returns the same for a chunk of `payload_bytes` whose path has `path_nodes` nodes, both ends included.
int64_t WireBytes(int64_t payload_bytes, size_t path_nodes);

// Returns what it costs in memory to keep a chunk that has arrived.
int64_t KeptBytes(const ChunkMessage& message, const Payload& payload);
// Returns a bound for `chunks` chunks of `elements` float32 elements in one frame, for setting limits. It leaves as
// much again as a header for the path and the frame.
int64_t KeptBytes(int64_t chunks, int64_t elements);

}  // namespace banyan

#endif  // BANYAN_NODE_CHUNK_SIZE_H_
