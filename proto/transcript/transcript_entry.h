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

template <typename Visitor>
void Fields(Visitor& v, TranscriptStart& m) {
  v(1, "format", m.format);
  v(2, "node", m.node, kName);
  v(3, "version", m.version, kText);
  v.Check([&m](FieldReader& fields) {
    fields.Expect(m.format > 0 && m.format <= kTranscriptFormat, "format",
                  absl::StrCat("1 to ", kTranscriptFormat, ", which this program reads"),
                  absl::StrCat(m.format, ", written by Banyan ", m.version));
  });
}

// From this round of the key on, until another one is named, this policy governs.
struct TranscriptBound {
  KeyId key;
  Round round;
  PolicyVersion policy;
  friend bool operator==(const TranscriptBound&, const TranscriptBound&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TranscriptBound& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v(3, "policy", m.policy, kNonZero);
}

// A chunk was encoded so. One that has no entry: as the default says.
struct TranscriptEncoding {
  KeyId key;
  Round round;
  ChunkIndex chunk;
  Half half = Half::kReduce;  // kBroadcast: the result, at its root
  EncodingChoice choice;
  friend bool operator==(const TranscriptEncoding&, const TranscriptEncoding&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TranscriptEncoding& m) {
  // Nothing is kept of a chunk by 0.
  constexpr Range kShares = {1e-300, 1.0};
  bool is_result = m.half == Half::kBroadcast;
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v(3, "chunk", m.chunk);
  v(4, "is_result", is_result);
  v(5, "ratio", m.choice.ratio, kShares);
  v(6, "share", m.choice.share, kShares);
  v(7, "is_light", m.choice.is_light);
  if constexpr (Visitor::kReads) m.half = is_result ? Half::kBroadcast : Half::kReduce;
}

// The result of a chunk lacks so many last frames of what this node had sent.
struct TranscriptCut {
  KeyId key;
  Round round;
  ChunkIndex chunk;
  uint32_t frames = 0;
  friend bool operator==(const TranscriptCut&, const TranscriptCut&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TranscriptCut& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v(3, "chunk", m.chunk);
  v(4, "frames", m.frames, Range{1u, static_cast<uint32_t>(v.limits().max_frames)});
}

// A worker's call was handled.
struct TranscriptCall {
  enum class Kind : uint8_t { kPush, kFlush, kPull, kBroadcast, kWeights, kGoodBye, kDeath };
  WorkerId worker;
  Kind kind = Kind::kPush;
  KeyId key;  // 0: of none
  friend bool operator==(const TranscriptCall&, const TranscriptCall&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TranscriptCall& m) {
  v(1, "worker", m.worker);
  v(2, "kind", m.kind, UpTo{TranscriptCall::Kind::kDeath});
  v(3, "key", m.key);
}

// The node contributed to the round without the workers that had not pushed it.
struct TranscriptLeftOut {
  KeyId key;
  Round round;
  friend bool operator==(const TranscriptLeftOut&, const TranscriptLeftOut&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TranscriptLeftOut& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
}

// All of a round's result was there.
struct TranscriptComplete {
  KeyId key;
  Round round;
  uint64_t hash = 0;  // of the values that workers get
  friend bool operator==(const TranscriptComplete&, const TranscriptComplete&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TranscriptComplete& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v(3, "hash", Fixed(m.hash));
}

// The membership changed.
struct TranscriptEpoch {
  Epoch epoch;
  friend bool operator==(const TranscriptEpoch&, const TranscriptEpoch&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TranscriptEpoch& m) {
  v(1, "epoch", m.epoch, kNonZero);
}

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
