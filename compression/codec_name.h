// The codecs' names, as users write and read them. Pure function.
#ifndef BANYAN_COMPRESSION_CODEC_NAME_H_
#define BANYAN_COMPRESSION_CODEC_NAME_H_

#include "absl/strings/string_view.h"
#include "proto/chunk_message.h"

namespace banyan {

// `fp32`, `topk`, `onebit_rht` and so on; empty for an id that has no codec.
absl::string_view CodecName(CodecId id);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODEC_NAME_H_
