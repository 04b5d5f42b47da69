#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compression/codec_registry.h"
#include "compression/counts/vote_frame.h"
#include "compression/encoded_chunk.h"
#include "compression/testing/testing_samples.h"
#include "core/buffer.h"
#include "core/check.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/fuzz_target.h"

namespace banyan {
namespace {

constexpr int64_t kMostElements = 4096;
constexpr size_t kMostFrames = 16;

template <typename Number>
void Append(std::string* bytes, Number number) {
  bytes->append(reinterpret_cast<const char*>(&number), sizeof number);
}

// The chunk's elements, then each frame: its codec, level, elements and bytes.
std::string InOneText(const EncodedChunk& chunk, int64_t elements) {
  std::string bytes;
  Append(&bytes, static_cast<uint16_t>(elements));
  Append(&bytes, static_cast<uint8_t>(chunk.frames.size()));
  for (size_t i = 0; i < chunk.frames.size(); ++i) {
    Append(&bytes, static_cast<uint8_t>(chunk.frames[i].codec));
    Append(&bytes, static_cast<int8_t>(chunk.frames[i].level));
    Append(&bytes, static_cast<int16_t>(chunk.frames[i].first_element));
    Append(&bytes, static_cast<int16_t>(chunk.frames[i].elements));
    Append(&bytes, static_cast<uint16_t>(chunk.payload[i].size_bytes()));
    bytes.append(static_cast<const char*>(chunk.payload[i].data()), chunk.payload[i].size_bytes());
  }
  return bytes;
}

bool RunChunk(absl::string_view bytes) {
  FuzzInput input(bytes);
  const int64_t elements = input.Take<uint16_t>() % kMostElements + 1;
  EncodedChunk chunk;
  chunk.weight = 1;
  const size_t frames = input.Take<uint8_t>() % kMostFrames;
  for (size_t i = 0; i < frames; ++i) {
    FrameHeader header;
    header.codec = static_cast<CodecId>(input.Take<uint8_t>());
    header.level = input.Take<int8_t>();
    header.first_element = input.Take<int16_t>();
    header.elements = input.Take<int16_t>();
    const Buffer frame = Buffer::CopyOfBytes(AsBytes(input.TakeBytes(input.Take<uint16_t>())));
    header.size_bytes = frame.size_bytes();
    chunk.frames.push_back(header);
    chunk.payload.push_back(frame);
  }
  const absl::StatusOr<CheckedChunk> checked = CheckChunk(std::move(chunk), elements);
  if (!checked.ok()) return false;
  std::vector<float> values(elements);
  DecodeChunk(*checked, absl::MakeSpan(values));
  DecodeAddChunk(*checked, absl::MakeSpan(values));
  // Any front part decodes as well.
  for (size_t left = 0; left < checked->encoded().frames.size(); ++left) {
    DecodeChunk(CutChunk(*checked, left), absl::MakeSpan(values));
  }
  return true;
}

std::vector<std::string> ChunkSeeds() {
  std::vector<std::string> seeds;
  for (const CodecId codec : KnownCodecs()) {
    for (const int64_t elements : {1, 7, 64, 365}) {
      const Encoding encoding{.codec = codec, .ratio = 0.3, .seed = 7};
      const EncodedChunk chunk = EncodeChunk(encoding, Buffer::CopyOf(GaussianSamples(elements, 1)), 1).encoded();
      // The number of elements stands less one, as it is at least one.
      if (chunk.frames.size() < kMostFrames) seeds.push_back(InOneText(chunk, elements - 1));
    }
  }
  return seeds;
}

// Elements, weight, whether votes of zero are counted; then the frame.
bool RunCount(absl::string_view bytes) {
  FuzzInput input(bytes);
  const int64_t elements = input.Take<uint16_t>() % kMostElements + 1;
  const int64_t weight = input.Take<uint16_t>() + 1;
  const bool has_zero_votes = input.Take<uint8_t>() % 2 == 1;
  const absl::StatusOr<VoteCount> count = DecodeCount(AsBytes(input.rest()), elements, weight, has_zero_votes);
  if (!count.ok()) return false;
  const std::vector<uint8_t> written = EncodeCount(*count);
  BANYAN_CHECK(DecodeCount(written, elements, weight, has_zero_votes).ok());
  return true;
}

VoteCount CountOf(int64_t elements, int voters, const VoteRules& rules) {
  VoteCount count(elements, HasZeroVotes(rules));
  for (int voter = 0; voter < voters; ++voter) {
    const std::vector<float> values = GaussianSamples(elements, voter + 1);
    count.Add(VoteCount::OfVoter(values, SliceScale(values), rules));
  }
  return count;
}

VoteRules RulesOf(LowBitFamily family, VoteAggregate aggregate = VoteAggregate::kMajority) {
  VoteRules rules;
  rules.family = family;
  rules.aggregate = aggregate;
  return rules;
}

std::string AsText(const std::vector<uint8_t>& bytes) { return std::string(bytes.begin(), bytes.end()); }

std::vector<std::string> CountSeeds() {
  std::vector<std::string> seeds;
  for (const LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
    for (const int voters : {1, 3, 8}) {
      const VoteRules rules = RulesOf(family);
      std::string& bytes = seeds.emplace_back();
      Append(&bytes, static_cast<uint16_t>(70 - 1));
      Append(&bytes, static_cast<uint16_t>(voters - 1));
      Append(&bytes, static_cast<uint8_t>(HasZeroVotes(rules)));
      bytes += AsText(EncodeCount(CountOf(70, voters, rules)));
    }
  }
  return seeds;
}

bool RunDecision(absl::string_view bytes) {
  FuzzInput input(bytes);
  const int64_t elements = input.Take<uint16_t>() % kMostElements + 1;
  const absl::StatusOr<VoteDecision> decision = DecodeDecision(AsBytes(input.rest()), elements);
  if (!decision.ok()) return false;
  BANYAN_CHECK(DecodeDecision(EncodeDecision(*decision), elements).ok());
  return true;
}

std::vector<std::string> DecisionSeeds() {
  std::vector<std::string> seeds;
  for (const LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
    for (const VoteAggregate aggregate : {VoteAggregate::kMajority, VoteAggregate::kMean}) {
      const VoteRules rules = RulesOf(family, aggregate);
      std::string& bytes = seeds.emplace_back();
      Append(&bytes, static_cast<uint16_t>(70 - 1));
      bytes += AsText(EncodeDecision(VoteDecision(CountOf(70, 3, rules), rules)));
    }
  }
  return seeds;
}

}  // namespace

std::vector<FuzzTarget> ChunkTargets() {
  return {{"chunk", RunChunk, ChunkSeeds},
          {"vote-count", RunCount, CountSeeds},
          {"vote-decision", RunDecision, DecisionSeeds}};
}

}  // namespace banyan
