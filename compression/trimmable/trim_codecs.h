// The codecs whose frames may be cut from the end (prefix_codec.h), one kind a file: the comment of its class has its
// levels and its error. They live as long as the program and serve every thread.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_TRIM_CODECS_H_
#define BANYAN_COMPRESSION_TRIMMABLE_TRIM_CODECS_H_

#include "compression/codec.h"

namespace banyan {

const Codec& TrimSignCodec();
// Stochastic quantization and subtractive dithering (trim_dither_codec.cc).
const Codec& TrimSqCodec();
const Codec& TrimSdCodec();
const Codec& TrimRhtCodec();
const Codec& TrimRhtLevelsCodec();
const Codec& TrimTopKCodec();

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_TRIM_CODECS_H_
