// Chunk headers, and the ids and routes that other messages share with them, to and from Protobuf. Part of
// proto/wire.h, which is what others use. Pure functions.
#ifndef BANYAN_PROTO_CHUNK_WIRE_H_
#define BANYAN_PROTO_CHUNK_WIRE_H_

#include <cstdint>
#include <vector>

#include "core/buffer.h"
#include "core/ids.h"
#include "proto/chunk.pb.h"
#include "proto/chunk_message.h"
#include "proto/envelope.pb.h"
#include "proto/field_reader.h"

namespace banyan {

void WriteChunkId(const ChunkId& from, wire::ChunkId& to);
ChunkId ReadChunkId(const wire::ChunkId& from, FieldReader fields);

void WriteSourceRoute(const SourceRoute& from, wire::SourceRoute& to);
// At least two nodes, none twice, and a hop that has a next node.
SourceRoute ReadSourceRoute(const wire::SourceRoute& from, FieldReader fields);

// The nodes of a path with both ends: at least two, none twice.
std::vector<NodeId> ReadPath(const google::protobuf::RepeatedField<uint32_t>& from, FieldReader fields);

void Write(const ChunkMessage& from, wire::Envelope& to);
// `payload` must be what the header says, frame by frame.
ChunkMessage ReadChunk(const wire::ChunkMessage& from, const Payload& payload, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_CHUNK_WIRE_H_
