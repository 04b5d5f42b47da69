// The compression of a job's tensors on their way: the part of JobConfig that overlay.yaml has under `compression`.
// Values; thread-compatible.
#ifndef BANYAN_PROTO_COMPRESSION_COMPRESSION_CONFIG_H_
#define BANYAN_PROTO_COMPRESSION_COMPRESSION_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/compression/codec_id.h"

namespace banyan {

// The controller that decides which share of a tensor's elements a sparse codec sends. The controllers are in
// compression/control.
enum class RatioControllerKind : uint8_t { kFixed, kNetSense, kDa1, kDa2, kDa3, kDa4, kDa5, kBudget };

// The way in which top-k finds the magnitude from which on elements are kept.
enum class TopKSelection : uint8_t {
  kExact,    // exactly as many elements as the ratio says
  kSampled,  // about as many: the threshold comes from a sample (DC2, section IV-C; Deep Gradient Compression)
};

// A setting of a controller, by the name that its Config has for it, as in {"increase_step", 0.01}.
struct ControllerNumber {
  std::string name;
  double value = 0;
  friend bool operator==(const ControllerNumber&, const ControllerNumber&) = default;
};

// The compression of the tensors whose names match `keys`.
struct CompressionRule {
  std::string keys = "*";  // '*' stands for any characters
  CodecId codec = CodecId::kFp32;
  RatioControllerKind controller = RatioControllerKind::kFixed;
  std::vector<ControllerNumber> numbers = {};  // of the controller; those not named have their defaults
  TopKSelection selection = TopKSelection::kExact;
  // What a codec drops is kept and added to the next round; empty: for biased codecs, and those that may be cut.
  std::optional<bool> error_feedback = std::nullopt;
  friend bool operator==(const CompressionRule&, const CompressionRule&) = default;
};

struct CompressionConfig {
  // The first whose `keys` match counts; tensors that none matches travel as fp32.
  std::vector<CompressionRule> rules = {};
  // Tensors with fewer elements travel as fp32 whatever the rules say.
  int64_t least_elements = 1024;
  friend bool operator==(const CompressionConfig&, const CompressionConfig&) = default;
};

// What a node chose for one chunk before it encoded it, beyond what the job's rules say. Value; thread-compatible.
struct EncodingChoice {
  double ratio = 1;       // of a sparse codec
  double share = 1;       // of an encoding in levels: so much of it is sent
  bool is_light = false;  // the rule's light codec in place of its own

  friend bool operator==(const EncodingChoice&, const EncodingChoice&) = default;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_COMPRESSION_CONFIG_H_
