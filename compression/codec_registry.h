// All codecs that this program knows, by id. Pure functions; the codecs live as long as the program and serve every
// thread.
#ifndef BANYAN_COMPRESSION_CODEC_REGISTRY_H_
#define BANYAN_COMPRESSION_CODEC_REGISTRY_H_

#include <vector>

#include "compression/codec.h"
#include "proto/compression/codec_id.h"

namespace banyan {

// Returns the codec of `id`, null when this program does not know it.
const Codec* CodecFor(CodecId id);

// Returns the ids of all codecs that encode gradients on their own: all but those of low-bit rounds and of exact types.
std::vector<CodecId> KnownCodecs();

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODEC_REGISTRY_H_
