// Mutated messages: whatever the bytes, the decoder answers, and what it accepts is a message that travels unchanged.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"
#include "proto/testing/wire_samples.h"
#include "proto/wire.h"

namespace banyan {
namespace {

struct Encoded {
  std::string header;
  Payload payload;
};

std::vector<Encoded> EncodedSamples() {
  std::vector<WireSample> samples = WireSamples();
  samples.push_back(SampleEmptyContribution());
  samples.push_back(SampleEmptyResult());
  samples.push_back(SampleStateChunk());
  std::vector<Encoded> encoded;
  for (const WireSample& sample : samples) encoded.push_back({EncodeMessage(sample.message), sample.payload});
  return encoded;
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// Where the body of an intact header begins: behind the tag and the length.
size_t BodyStart(const std::string& header) {
  size_t position = 0;
  for (int varint = 0; varint < 2; ++varint) {
    while (static_cast<unsigned char>(header[position]) >= 0x80) ++position;
    ++position;
  }
  return position;
}

size_t TagBytes(const std::string& header) { return static_cast<unsigned char>(header[0]) >= 0x80 ? 2 : 1; }

// The header of the same kind of message with another body.
std::string Reframed(const std::string& header, const std::string& body) {
  return header.substr(0, TagBytes(header)) + Varint(body.size()) + body;
}

// True if the message was accepted; then it must come back as itself.
bool Accepts(const std::string& header, const Payload& payload, const WireLimits& limits = WireLimits()) {
  const absl::StatusOr<Message> message = DecodeMessage(header, payload, limits);
  if (!message.ok()) {
    EXPECT_EQ(message.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(message.status().message().empty());
    return false;
  }
  const absl::StatusOr<Message> again = DecodeMessage(EncodeMessage(*message), payload, limits);
  EXPECT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again.ok() && *again == *message);
  return true;
}

std::string RandomBytes(Random& random, size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Next());
  return bytes;
}

class Mutator {
 public:
  Mutator(Random& random, const std::vector<Encoded>& samples) : random_(random), samples_(samples) {}

  // Half of the mutations keep the frame around the body in order, so that they reach the fields.
  Encoded Mutate() {
    Encoded encoded = Pick();
    if (random_.Chance(0.5)) {
      std::string body = encoded.header.substr(BodyStart(encoded.header));
      Spoil(body);
      encoded.header = Reframed(encoded.header, body);
    } else {
      Spoil(encoded.header);
    }
    if (random_.Chance(0.1)) SpoilPayload(encoded.payload);
    return encoded;
  }

 private:
  const Encoded& Pick() { return samples_[random_.Below(samples_.size())]; }

  void Spoil(std::string& bytes) {
    for (int64_t edits = random_.Between(1, 4); edits > 0; --edits) SpoilOnce(bytes);
  }

  void SpoilOnce(std::string& bytes) {
    const size_t at = random_.Below(bytes.size() + 1);
    switch (random_.Below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_.Below(8)));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.insert(at, RandomBytes(random_, random_.Below(20)));
        break;
      case 3:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random_.Next());
        break;
      case 4:
        Splice(bytes, at);
        break;
      case 5:
        bytes.erase(at, random_.Below(8));
        break;
      default:
        if (random_.Chance(0.02)) Oversize(bytes, at);
        break;
    }
  }

  // Carries on with the rest of another message.
  void Splice(std::string& bytes, size_t at) {
    const std::string& other = Pick().header;
    bytes.replace(at, std::string::npos, other, random_.Below(other.size() + 1), std::string::npos);
  }

  // A piece of the message many times over.
  void Oversize(std::string& bytes, size_t at) {
    const std::string piece = bytes.substr(at, 1 + random_.Below(24));
    if (bytes.size() > 4096) return;
    std::string many;
    for (uint64_t copies = random_.Below(5000); copies > 0; --copies) many += piece;
    bytes.insert(at, many);
  }

  void SpoilPayload(Payload& payload) {
    if (!payload.empty() && random_.Chance(0.5)) {
      payload.pop_back();
    } else {
      payload.push_back(Buffer::Allocate(static_cast<int64_t>(random_.Below(100)), DataType::kByte));
    }
  }

  Random& random_;
  const std::vector<Encoded>& samples_;
};

int Mutations() { return std::getenv("BANYAN_LONG") == nullptr ? 100'000 : 3'000'000; }

class WireFuzzTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { mutations_ = Mutations(); }

  static int mutations_;
};

int WireFuzzTest::mutations_ = 0;

TEST_F(WireFuzzTest, NoPieceOfAMessageIsAMessage) {
  for (const Encoded& encoded : EncodedSamples()) {
    for (size_t size = 0; size < encoded.header.size(); ++size) {
      EXPECT_FALSE(Accepts(encoded.header.substr(0, size), encoded.payload));
    }
  }
}

TEST_F(WireFuzzTest, ACutBodyIsRefusedOrAMessageOfItsOwn) {
  for (const Encoded& encoded : EncodedSamples()) {
    const std::string body = encoded.header.substr(BodyStart(encoded.header));
    for (size_t size = 0; size < body.size(); ++size) {
      Accepts(Reframed(encoded.header, body.substr(0, size)), encoded.payload);
    }
  }
}

TEST_F(WireFuzzTest, MutatedMessagesAreRefusedOrTravelUnchanged) {
  Random random(20240607);
  const std::vector<Encoded> samples = EncodedSamples();
  Mutator mutator(random, samples);
  int accepted = 0;
  for (int i = 0; i < mutations_ && !HasFailure(); ++i) {
    const Encoded encoded = mutator.Mutate();
    accepted += Accepts(encoded.header, encoded.payload);
  }
  EXPECT_GT(accepted, mutations_ / 50);
  EXPECT_LT(accepted, mutations_ / 2);
}

TEST_F(WireFuzzTest, MutatedMessagesUnderTightLimits) {
  WireLimits limits;
  limits.max_entries = 1;
  limits.max_path_nodes = 3;
  limits.max_frames = 1;
  limits.max_name_bytes = 8;
  limits.max_reason_bytes = 8;
  limits.max_chunk_elements = 100;
  limits.max_key_elements = 1000;
  Random random(7);
  const std::vector<Encoded> samples = EncodedSamples();
  Mutator mutator(random, samples);
  for (int i = 0; i < mutations_ / 10 && !HasFailure(); ++i) {
    const Encoded encoded = mutator.Mutate();
    Accepts(encoded.header, encoded.payload, limits);
  }
}

TEST_F(WireFuzzTest, RandomBytesAreRefused) {
  Random random(11);
  for (int i = 0; i < mutations_ / 2 && !HasFailure(); ++i) {
    Accepts(RandomBytes(random, random.Below(random.Chance(0.01) ? 70'000 : 64)), {});
  }
}

}  // namespace
}  // namespace banyan
