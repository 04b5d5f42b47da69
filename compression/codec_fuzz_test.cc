// Frames that somebody spoilt: every codec refuses them or decodes them, and reads and writes nothing beyond.

#include <cstdlib>
#include <string>
#include <vector>

#include "compression/codec_registry.h"
#include "compression/encoded_chunk.h"
#include "compression/testing/testing_samples.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "proto/compression/codec_traits.h"

namespace banyan {
namespace {

// Around the blocks of the codecs, and more than one row of the transform.
constexpr int kLengths[] = {1, 2, 7, 8, 63, 64, 65, 255, 257, 321, 641, 1100, 34000};
constexpr int kLongLength = 2000;

// Per codec.
int Mutations() { return std::getenv("BANYAN_LONG") == nullptr ? 10'000 : 300'000; }

class CodecFuzzTest : public testing::TestWithParam<CodecId> {
 protected:
  void SetUp() override {
    for (int length : kLengths) {
      for (double ratio : {0.01, 0.3}) {
        const Encoding encoding{.codec = GetParam(), .ratio = ratio, .seed = random_.Next()};
        samples_.push_back(EncodeChunk(encoding, Buffer::CopyOf(GaussianSamples(length, 1)), 1).encoded());
        elements_.push_back(length);
      }
    }
  }

  // One of the samples; seldom one of the long ones, which take long.
  size_t Choose() {
    const size_t chosen = random_.Below(samples_.size());
    return elements_[chosen] > kLongLength && !random_.Chance(0.01) ? random_.Below(10) : chosen;
  }

  void SpoilBytes(Buffer* frame) {
    std::vector<uint8_t> bytes(frame->bytes().begin(), frame->bytes().end());
    for (uint64_t i = random_.Below(4); !bytes.empty() && i < 4; ++i) {
      uint8_t& byte = bytes[random_.Chance(0.5) ? random_.Below(bytes.size()) : random_.Below(bytes.size()) % 16];
      byte = random_.Chance(0.5) ? byte ^ (1 << random_.Below(8)) : static_cast<uint8_t>(random_.Next());
    }
    *frame = Buffer::CopyOfBytes(bytes);
  }

  void Resize(Buffer* frame) {
    std::vector<uint8_t> bytes(frame->bytes().begin(), frame->bytes().end());
    bytes.resize(random_.Chance(0.5) ? random_.Below(bytes.size() + 1) : bytes.size() + random_.Between(1, 9),
                 static_cast<uint8_t>(random_.Next()));
    *frame = Buffer::CopyOfBytes(bytes);
  }

  void SpoilHeader(FrameHeader* header) {
    if (random_.Chance(0.1)) {
      header->level = static_cast<int>(random_.Between(-1, 7));
      return;
    }
    int64_t* const fields[] = {&header->first_element, &header->elements, &header->size_bytes};
    int64_t& field = *fields[random_.Below(3)];
    const int64_t values[] = {0,
                              -1,
                              field + 1,
                              field - 1,
                              field * 2,
                              field ^ (int64_t{1} << random_.Below(63)),
                              static_cast<int64_t>(random_.Next())};
    field = values[random_.Below(7)];
  }

  void Mutate(EncodedChunk* chunk) {
    const size_t frame = random_.Below(chunk->payload.size());
    const uint64_t kind = random_.Below(10);
    if (kind < 6) SpoilBytes(&chunk->payload[frame]);
    if (kind >= 6 && kind < 8) SpoilHeader(&chunk->frames[frame]);
    if (kind == 8) Resize(&chunk->payload[frame]);
    if (kind >= 8 && random_.Chance(0.9)) chunk->frames[frame].size_bytes = chunk->payload[frame].size_bytes();
    if (kind == 9) chunk->frames[frame].elements += random_.Between(-9, 9);
  }

  Random random_{11};
  std::vector<EncodedChunk> samples_;
  std::vector<int> elements_;
};

TEST_P(CodecFuzzTest, MutatedChunksAreRefusedOrDecoded) {
  const int mutations = Mutations();
  int refused = 0;
  for (int i = 0; i < mutations; ++i) {
    const size_t chosen = Choose();
    EncodedChunk chunk = samples_[chosen];
    Mutate(&chunk);
    const absl::StatusOr<CheckedChunk> checked = CheckChunk(std::move(chunk), elements_[chosen]);
    if (!checked.ok()) {
      ++refused;
      continue;
    }
    std::vector<float> values(elements_[chosen]);
    DecodeChunk(*checked, absl::MakeSpan(values));
    DecodeAddChunk(*checked, absl::MakeSpan(values));
  }
  EXPECT_GT(refused, mutations / 10);
  EXPECT_LT(refused, mutations);
}

// The size of a frame follows from its header, so no piece of one and nothing longer passes.
TEST_P(CodecFuzzTest, NoPieceOfAFrameIsAFrame) {
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (elements_[i] > kLongLength) continue;
    const Buffer whole = samples_[i].payload[0];
    for (int64_t size = 0; size < whole.elements(); ++size) {
      EncodedChunk chunk = samples_[i];
      chunk.payload[0] = Buffer::CopyOfBytes(whole.bytes().subspan(0, size));
      chunk.frames[0].size_bytes = size;
      ASSERT_FALSE(CheckChunk(chunk, elements_[i]).ok()) << size << " of " << whole.elements();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CodecFuzzTest, testing::ValuesIn(KnownCodecs()),
                         [](const auto& info) { return std::string(CodecName(info.param)); });

}  // namespace
}  // namespace banyan
