#include "compression/counts/vote_codecs.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "compression/counts/vote_decision.h"
#include "compression/counts/vote_frame.h"
#include "compression/counts/vote_values.h"
#include "compression/kernels/little_endian.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr size_t kHeadBytes = sizeof(uint32_t) + 1;

VoteCount OneVoter(const Buffer& values) {
  return VoteCount::OfVoter(values.floats(), SliceScale(values.floats()), VoteRules());
}

Payload MakePayload(CodecId codec, int64_t elements, const std::vector<uint8_t>& bytes,
                    std::vector<FrameHeader>* frames) {
  frames->push_back({codec, 0, elements, static_cast<int64_t>(bytes.size()), 0});
  return {Buffer::CopyOfBytes(bytes)};
}

absl::Status CheckWhole(const FrameHeader& header, int64_t chunk_elements) {
  const bool is_whole = header.first_element == 0 && header.elements == chunk_elements && header.level == 0;
  if (is_whole) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat("expected votes on all %d elements in one level, got %d from %d",
                                                    chunk_elements, header.elements, header.first_element));
}

void AddPlane(CountView view, int64_t words, float unit, absl::Span<float> chunk) {
  float value = unit;
  for (int plane = 0; plane < view.width; ++plane, value *= 2) AddWhereSet(view.planes + plane * words, value, chunk);
}

// Counts as they go up.
class CountCodec : public Codec {
 public:
  CodecId id() const override { return CodecId::kVoteCount; }
  // Votes as one voter would.
  Payload Encode(const Buffer& values, const Encoding& /*encoding*/, std::vector<FrameHeader>* frames) const override {
    if (values.empty()) return {};
    return MakePayload(id(), values.elements(), EncodeVoteFrame(OneVoter(values)), frames);
  }

  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override {
    if (absl::Status whole = CheckWhole(header, chunk_elements); !whole.ok()) return whole;
    return DecodeVoteFrame(frame.bytes(), chunk_elements).status();
  }

  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    std::fill(chunk.begin(), chunk.end(), 0.0f);
    DecodeAdd(header, frame, chunk);
  }

  void DecodeAdd(const FrameHeader& /*header*/, const Buffer& frame, absl::Span<float> chunk) const override {
    const VoteCount count = ReadVoteFrame(frame.bytes(), static_cast<int64_t>(chunk.size()));
    const float scale = count.scales().Mean(count.weight());
    if (count.has_zero_votes()) {
      AddPlane(count.votes_for(), count.words(), scale, chunk);
      AddPlane(count.votes_against(), count.words(), -scale, chunk);
      return;
    }
    // Who is not for is against.
    AddPlane(count.votes_for(), count.words(), 2 * scale, chunk);
    for (float& value : chunk) value -= scale * static_cast<float>(count.weight());
  }
};

// The decision as it goes down.
class DecisionCodec : public Codec {
 public:
  CodecId id() const override { return CodecId::kVoteDecision; }
  // Decides as if there were one voter.
  Payload Encode(const Buffer& values, const Encoding& /*encoding*/, std::vector<FrameHeader>* frames) const override {
    if (values.empty()) return {};
    const VoteDecision decision(OneVoter(values), VoteRules());
    return MakePayload(id(), values.elements(), EncodeDecision(decision), frames);
  }

  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override {
    if (absl::Status whole = CheckWhole(header, chunk_elements); !whole.ok()) return whole;
    return DecodeDecision(frame.bytes(), chunk_elements).status();
  }

  void Decode(const FrameHeader& /*header*/, const Buffer& frame, absl::Span<float> chunk) const override {
    WriteDecision(frame.bytes(), chunk);
  }

  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    std::vector<float> values(chunk.size());
    Decode(header, frame, absl::MakeSpan(values));
    for (size_t i = 0; i < values.size(); ++i) chunk[i] += values[i];
  }
};

}  // namespace

std::vector<uint8_t> EncodeVoteFrame(const VoteCount& count) {
  std::vector<uint8_t> bytes(kHeadBytes);
  StoreLittleEndian(static_cast<uint32_t>(count.weight()), bytes.data());
  bytes[kHeadBytes - 1] = count.has_zero_votes() ? 1 : 0;
  bytes.reserve(kHeadBytes +
                static_cast<size_t>(CountFrameBytes(count.elements(), count.weight(), count.has_zero_votes())));
  AppendCount(count, bytes);
  return bytes;
}

absl::StatusOr<VoteCount> DecodeVoteFrame(absl::Span<const uint8_t> frame, int64_t elements) {
  if (frame.size() < kHeadBytes || frame[kHeadBytes - 1] > 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected a weight and 0 or 1 before counts, got other bytes, %d in all", frame.size()));
  }
  return DecodeCount(frame.subspan(kHeadBytes), elements, LoadLittleEndian<uint32_t>(frame.data()),
                     frame[kHeadBytes - 1] == 1);
}

VoteFrameHead ReadVoteFrameHead(absl::Span<const uint8_t> frame) {
  BANYAN_CHECK(frame.size() >= kHeadBytes);
  return {LoadLittleEndian<uint32_t>(frame.data()), frame[kHeadBytes - 1] == 1};
}

VoteCount ReadVoteFrame(absl::Span<const uint8_t> frame, int64_t elements) {
  const VoteFrameHead head = ReadVoteFrameHead(frame);
  return ReadCount(frame.subspan(kHeadBytes), elements, head.weight, head.has_zero_votes);
}

const Codec& VoteCountCodec() {
  static const CountCodec codec;
  return codec;
}

const Codec& VoteDecisionCodec() {
  static const DecisionCodec codec;
  return codec;
}

}  // namespace banyan
