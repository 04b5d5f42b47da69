// The traits of the codecs that users and their configuration know without having them: names, and what a setting may
// ask for. The codecs themselves are in compression/; compression/codec_conformance_test.cc holds them to this. Pure
// functions.
#ifndef BANYAN_PROTO_COMPRESSION_CODEC_TRAITS_H_
#define BANYAN_PROTO_COMPRESSION_CODEC_TRAITS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/compression/codec_id.h"

namespace banyan {

struct CodecTraits {
  CodecId id = CodecId::kFp32;
  absl::string_view name;  // `fp32`, `topk`, `onebit_rht` and so on
  // Sends a share of the elements: has a ratio, and a controller for it.
  bool is_sparse = false;
  // The codec drops more than noise that the mean over many rounds is free of. So error feedback pays.
  bool is_biased = false;
  // Queues may cut what it writes: what was cut comes back to who encoded it, and error feedback sends it later.
  bool is_trimmable = false;
};

// Null for an id that has no codec.
const CodecTraits* TraitsOf(CodecId id);

// Every codec, in the order of their numbers.
std::vector<CodecId> AllCodecIds();

// Empty for an id that has no codec.
absl::string_view CodecName(CodecId id);

// Returns the names of all codecs, in the order of their numbers.
std::vector<std::string> CodecNames();

// The codec of that name; INVALID_ARGUMENT lists the names.
absl::StatusOr<CodecId> ParseCodecName(absl::string_view name);

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_CODEC_TRAITS_H_
