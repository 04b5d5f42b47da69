#include "examples/packets/packet_schemes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "core/random.h"
#include "tools/packet_benchmark/packet_options.h"

namespace banyan {
namespace {

using ::testing::Each;
using ::testing::FloatNear;
using ::testing::Pointwise;

std::vector<float> Message(size_t size, uint64_t seed) {
  Random random(seed);
  std::vector<float> message(size);
  for (float& value : message) {
    value = static_cast<float>(random.Unit() + random.Unit() + random.Unit() - 1.5);
    // A few are much larger, as in gradients.
    if (random.Chance(0.01)) value *= 20;
  }
  return message;
}

double Square(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}

// The square of what is off, over that of `sent`.
double ErrorOf(const std::vector<float>& sent, const std::vector<float>& arrived) {
  std::vector<float> off(sent.size());
  std::transform(sent.begin(), sent.end(), arrived.begin(), off.begin(), std::minus<>());
  return Square(off) / Square(sent);
}

TEST(PacketSchemesTest, WithoutCutsWhatIsSentArrives) {
  const std::vector<float> sent = Message(65536, 1);
  for (const std::string& name : PacketSchemeNames()) {
    if (KeepsResidual(name)) continue;
    std::vector<float> arrived = sent;
    const auto scheme = MakePacketScheme(name, {{1, 65536}}, {}, 1);
    scheme->Deliver(absl::MakeSpan(arrived));
    EXPECT_THAT(arrived, Pointwise(FloatNear(1e-4f), sent)) << name;
    EXPECT_EQ(scheme->arrived_bits(), scheme->sent_bits()) << name;
  }
}

TEST(PacketSchemesTest, ACutLeavesItsBitsAndTheErrorOfItsHeads) {
  const std::vector<float> sent = Message(65536, 2);
  std::vector<float> arrived = sent;
  const auto rht = MakePacketScheme("rht", {{1, 65536}}, {.share = 1}, 1);
  rht->Deliver(absl::MakeSpan(arrived));
  EXPECT_NEAR(ErrorOf(sent, arrived), 0.571, 0.02);
  EXPECT_NEAR(rht->arrived_bits() / rht->sent_bits(), 1.0 / 32, 1e-3);
  arrived = sent;
  MakePacketScheme("rht", {{1, 65536}}, {.share = 1, .bits = 16}, 1)->Deliver(absl::MakeSpan(arrived));
  EXPECT_LT(ErrorOf(sent, arrived), 1e-5);
}

TEST(PacketSchemesTest, PacketsOfARowShareALoss) {
  const std::vector<float> sent = Message(65536, 3);
  const auto worst = [&sent](absl::string_view scheme) {
    std::vector<float> arrived = sent;
    MakePacketScheme(scheme, {{1, 65536}}, {.share = 0.1}, 4)->Deliver(absl::MakeSpan(arrived));
    float most = 0;
    for (size_t i = 0; i < sent.size(); ++i) most = std::max(most, std::abs(arrived[i] - sent[i]));
    return most;
  };
  EXPECT_LT(worst("rht"), 0.6 * worst("rht-rows"));
  EXPECT_LT(worst("rht"), 0.5 * worst("sign"));
}

TEST(PacketSchemesTest, TopKSendsTheLargestAndKeepsTheRest) {
  std::vector<float> first(1000, 0.5f), second(1000);
  std::fill_n(first.begin(), 100, 8.0f);
  const auto scheme = MakePacketScheme("topk-rht", {{1, 1000}}, {}, 1);
  scheme->Deliver(absl::MakeSpan(first));
  EXPECT_THAT(absl::MakeSpan(first).subspan(0, 100), Each(FloatNear(8, 1e-4)));
  EXPECT_THAT(absl::MakeSpan(first).subspan(100), Each(0.0f));
  // Nine messages of nothing bring the rest.
  std::vector<float> total(1000);
  for (int i = 0; i < 9; ++i) {
    std::fill(second.begin(), second.end(), 0.0f);
    scheme->Deliver(absl::MakeSpan(second));
    for (size_t j = 0; j < total.size(); ++j) total[j] += second[j];
  }
  EXPECT_THAT(absl::MakeSpan(total).subspan(100), Each(FloatNear(0.5, 1e-4)));
}

TEST(PacketSchemesTest, ACutOfFactorsTakesTheSmallestRanks) {
  // Three ranks of sizes 9, 3 and 1, each with vectors of ones and minus ones that no other has.
  std::vector<float> sent(64 * 32);
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 32; ++column) {
      const auto sign = [](int i, int bit) { return ((i >> bit) & 1) != 0 ? -1.0f : 1.0f; };
      float& value = sent[row * 32 + column];
      for (const auto& [size, bit] : {std::pair(9.0f, 0), std::pair(3.0f, 1), std::pair(1.0f, 2)}) {
        value += size * sign(row, bit) * sign(column, bit);
      }
    }
  }
  std::vector<float> arrived = sent;
  const auto whole = MakePacketScheme("low-rank", {{64, 32}}, {}, 1);
  whole->Deliver(absl::MakeSpan(arrived));
  EXPECT_THAT(arrived, Pointwise(FloatNear(1e-3f), sent));
  arrived = sent;
  const auto cut = MakePacketScheme("low-rank", {{64, 32}}, {.share = 1}, 1);
  cut->Deliver(absl::MakeSpan(arrived));
  EXPECT_NEAR(ErrorOf(sent, arrived), 10.0 / 91, 1e-3);  // the squares of 3 and 1, of all three
  EXPECT_NEAR(cut->arrived_bits() / cut->sent_bits(), 1.0 / 16, 1e-6);
}

TEST(PacketSchemesTest, FirstBitsAreInTheMiddleOfWhatTheyLeaveOpen) {
  EXPECT_FLOAT_EQ(FirstBits(1.0f, 9), 1.5f);
  EXPECT_FLOAT_EQ(FirstBits(-3.999f, 9), -3.0f);
  EXPECT_NEAR(FirstBits(0.1f, 16), 0.1f, 0.1f / 256);
}

}  // namespace
}  // namespace banyan
