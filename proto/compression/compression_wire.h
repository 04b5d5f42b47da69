// Turns the compression of tensors, as the job's configuration carries it, to and from Protobuf. Part of proto/wire.h,
// which is what others use. Pure functions.
#ifndef BANYAN_PROTO_COMPRESSION_COMPRESSION_WIRE_H_
#define BANYAN_PROTO_COMPRESSION_COMPRESSION_WIRE_H_

#include "proto/compression/compression_config.h"
#include "proto/field_reader.h"
#include "proto/policy.pb.h"

namespace banyan {

void WriteCompression(const CompressionConfig& from, wire::CompressionConfig& to);

// Refuses rules whose controller could not be made.
CompressionConfig ReadCompression(const wire::CompressionConfig& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_COMPRESSION_WIRE_H_
