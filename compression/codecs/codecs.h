// The codecs whose frames are not to be cut, one a file: the comment of its class has its format and its error. They
// live as long as the program and serve every thread.
#ifndef BANYAN_COMPRESSION_CODECS_CODECS_H_
#define BANYAN_COMPRESSION_CODECS_CODECS_H_

#include "compression/codec.h"

namespace banyan {

// Of float32 tensors: without loss, of two bytes an element, of few bits an element, and of few elements.
const Codec& Fp32Codec();
const Codec& Fp16Codec();
const Codec& Bf16Codec();
const Codec& Int8Codec();
const Codec& Int4Codec();
const Codec& TernaryCodec();
const Codec& SignCodec();
const Codec& OneBitRhtCodec();
const Codec& TopKCodec();
const Codec& RandomKCodec();

// Of tensors of these types (exact_codec.cc).
const Codec& Float64Codec();
const Codec& Int32Codec();
const Codec& Int64Codec();

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_CODECS_H_
