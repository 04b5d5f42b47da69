#include "compression/testing/testing_round_trip.h"

#include <cstddef>

#include "absl/types/span.h"
#include "core/buffer.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// The levels of the range that `first` begins, which lie in order.
Payload LevelsOf(const FrameHeader& first, const std::vector<FrameHeader>& headers, const Payload& frames) {
  Payload levels;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (headers[i].first_element == first.first_element) levels.push_back(frames[i]);
  }
  return levels;
}

}  // namespace

std::vector<float> RoundTrip(const Codec& codec, const std::vector<float>& values, const Encoding& encoding) {
  std::vector<FrameHeader> headers;
  const Payload frames = codec.Encode(Buffer::CopyOf(values), encoding, &headers);
  std::vector<float> decoded(values.size(), 0.0f);
  for (size_t i = 0; i < frames.size(); ++i) {
    const absl::Status status = codec.Check(headers[i], frames[i], static_cast<int64_t>(values.size()));
    EXPECT_TRUE(status.ok()) << status;
    if (status.ok() && headers[i].level == 0) {
      codec.DecodeAddLevels(headers[i], LevelsOf(headers[i], headers, frames), absl::MakeSpan(decoded));
    }
  }
  return decoded;
}

std::vector<float> RoundTrip(const Codec& codec, const std::vector<float>& values, uint64_t seed) {
  return RoundTrip(codec, values, Encoding{.codec = codec.id(), .seed = seed});
}

std::vector<double> MeanRoundTrip(const Codec& codec, const std::vector<float>& values, int seeds) {
  std::vector<double> means(values.size(), 0.0);
  for (int seed = 0; seed < seeds; ++seed) {
    const std::vector<float> decoded = RoundTrip(codec, values, static_cast<uint64_t>(seed));
    for (size_t i = 0; i < values.size(); ++i) means[i] += static_cast<double>(decoded[i]) / seeds;
  }
  return means;
}

int64_t EncodedBytes(const Codec& codec, const std::vector<float>& values) {
  std::vector<FrameHeader> headers;
  return PayloadBytes(codec.Encode(Buffer::CopyOf(values), Encoding{.codec = codec.id()}, &headers));
}

}  // namespace banyan
