// What a node's transcript is made of, in the order in which it happened there. Values; thread-compatible.
#ifndef BANYAN_PROTO_TRANSCRIPT_TRANSCRIPT_ENTRY_H_
#define BANYAN_PROTO_TRANSCRIPT_TRANSCRIPT_ENTRY_H_

#include <cstdint>
#include <string>
#include <variant>

#include "core/ids.h"
#include "core/version.h"
#include "proto/compression/compression_config.h"
#include "proto/half.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// Rises when an older program would misread a transcript.
inline constexpr uint32_t kTranscriptFormat = 1;

// First in each transcript.
struct TranscriptStart {
  uint32_t format = kTranscriptFormat;
  std::string node;                // its name
  std::string version = kVersion;  // of Banyan, for people to read
  friend bool operator==(const TranscriptStart&, const TranscriptStart&) = default;
};

// From this round of the key on, until another one is named, this policy governs.
struct TranscriptBound {
  KeyId key;
  Round round;
  PolicyVersion policy;
  friend bool operator==(const TranscriptBound&, const TranscriptBound&) = default;
};

// A chunk was encoded so. One that has no entry: as the default says.
struct TranscriptEncoding {
  KeyId key;
  Round round;
  ChunkIndex chunk;
  Half half = Half::kReduce;  // kBroadcast: the result, at its root
  EncodingChoice choice;
  friend bool operator==(const TranscriptEncoding&, const TranscriptEncoding&) = default;
};

// The result of a chunk lacks so many last frames of what this node had sent.
struct TranscriptCut {
  KeyId key;
  Round round;
  ChunkIndex chunk;
  uint32_t frames = 0;
  friend bool operator==(const TranscriptCut&, const TranscriptCut&) = default;
};

// A worker's call was handled.
struct TranscriptCall {
  enum class Kind : uint8_t { kPush, kFlush, kPull, kBroadcast, kWeights, kGoodBye, kDeath };
  WorkerId worker;
  Kind kind = Kind::kPush;
  KeyId key;  // 0: of none
  friend bool operator==(const TranscriptCall&, const TranscriptCall&) = default;
};

// The node contributed to the round without the workers that had not pushed it.
struct TranscriptLeftOut {
  KeyId key;
  Round round;
  friend bool operator==(const TranscriptLeftOut&, const TranscriptLeftOut&) = default;
};

// All of a round's result was there.
struct TranscriptComplete {
  KeyId key;
  Round round;
  uint64_t hash = 0;  // of the values that workers get
  friend bool operator==(const TranscriptComplete&, const TranscriptComplete&) = default;
};

// The membership changed.
struct TranscriptEpoch {
  Epoch epoch;
  friend bool operator==(const TranscriptEpoch&, const TranscriptEpoch&) = default;
};

using TranscriptEntry =
    std::variant<TranscriptStart, JoinAccepted, KeysAssigned, PolicyPublished, TranscriptBound, TranscriptEncoding,
                 TranscriptCut, TranscriptCall, TranscriptLeftOut, TranscriptComplete, TranscriptEpoch>;

// Returns the name of `kind` for messages, as in "a push".
inline constexpr const char* NameOf(TranscriptCall::Kind kind) {
  switch (kind) {
    case TranscriptCall::Kind::kPush:
      return "push";
    case TranscriptCall::Kind::kFlush:
      return "flush";
    case TranscriptCall::Kind::kPull:
      return "pull";
    case TranscriptCall::Kind::kBroadcast:
      return "broadcast";
    case TranscriptCall::Kind::kWeights:
      return "registration of weights";
    case TranscriptCall::Kind::kGoodBye:
      return "good-bye";
    case TranscriptCall::Kind::kDeath:
      break;
  }
  return "death";
}

}  // namespace banyan

#endif  // BANYAN_PROTO_TRANSCRIPT_TRANSCRIPT_ENTRY_H_
