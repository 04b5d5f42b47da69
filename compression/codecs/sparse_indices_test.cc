#include "compression/codecs/sparse_indices.h"

#include <cmath>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes = std::vector<uint8_t>;
using Indices = std::vector<uint32_t>;

Indices RandomIndices(int64_t range, double ratio, Random* random) {
  Indices indices;
  for (int64_t i = 0; i < range; ++i) {
    if (random->Chance(ratio)) indices.push_back(static_cast<uint32_t>(i));
  }
  return indices;
}

Bytes Write(const Indices& indices) {
  const SparseIndexForm form = SmallestIndexForm(indices);
  Bytes bytes(form.size_bytes, 0xee);
  WriteSparseIndices(indices, form, absl::MakeSpan(bytes));
  return bytes;
}

Indices Read(const Bytes& bytes, int low_bits, int64_t count) {
  Indices indices(count);
  ReadSparseIndices(bytes, low_bits, absl::MakeSpan(indices));
  return indices;
}

void ExpectRoundTrip(const Indices& indices, int64_t range) {
  const SparseIndexForm form = SmallestIndexForm(indices);
  const Bytes bytes = Write(indices);
  ASSERT_TRUE(CheckSparseIndices(bytes, form.low_bits, indices.size(), range).ok());
  EXPECT_EQ(Read(bytes, form.low_bits, indices.size()), indices);
  EXPECT_LE(form.size_bytes, (range + 7) / 8);
}

std::string Error(const Bytes& bytes, int low_bits, int64_t count, int64_t range) {
  return std::string(CheckSparseIndices(bytes, low_bits, count, range).message());
}

TEST(SparseIndicesTest, RoundTrips) {
  Random random(1);
  for (int64_t range : {1, 2, 7, 8, 9, 63, 64, 65, 1000, 65536, 100003}) {
    for (double ratio : {0.0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0}) {
      ExpectRoundTrip(RandomIndices(range, ratio, &random), range);
    }
  }
}

TEST(SparseIndicesTest, RoundTripsWhereGapsAreUneven) {
  ExpectRoundTrip({0, 1, 2, 3, 100000}, 100001);
  ExpectRoundTrip({100000}, 100001);
  ExpectRoundTrip({0}, 100001);
  Indices indices(3000);
  for (uint32_t i = 0; i < indices.size(); ++i) indices[i] = i;
  indices.back() = 9999;  // thousands of zeros in the unary part
  ExpectRoundTrip(indices, 10000);
  const uint32_t last = static_cast<uint32_t>(kMaxSparseRange - 1);
  for (const Indices& wide : {Indices{last}, Indices{0, last}, Indices{last - 1, last}}) {
    const SparseIndexForm form = SmallestIndexForm(wide);
    ASSERT_TRUE(CheckSparseIndices(Write(wide), form.low_bits, wide.size(), kMaxSparseRange).ok());
    EXPECT_EQ(Read(Write(wide), form.low_bits, wide.size()), wide);
    EXPECT_LE(form.size_bytes, 16);
  }
}

TEST(SparseIndicesTest, BytesAreThoseOfTheDescription) {
  // Gaps 2, 0, 0, 0: a bitmap of ones at 2, 3, 4, 5.
  EXPECT_EQ(SmallestIndexForm({2, 3, 4, 5}), (SparseIndexForm{0, 1}));
  EXPECT_THAT(Write({2, 3, 4, 5}), ElementsAre(0b00111100));
  // A gap of 9 = 0b1001 with two low bits: 01, then 00 and a one.
  EXPECT_THAT(Read({0b01, 0b100}, 2, 1), ElementsAre(9));
}

// The numbers that the header promises, in bits per index.
TEST(SparseIndicesTest, IsNearTheEntropy) {
  Random random(2);
  const int64_t range = 1 << 20;
  for (const auto& [ratio, bits] :
       std::vector<std::pair<double, double>>{{0.001, 11.49}, {0.01, 8.11}, {0.1, 4.76}, {0.3, 2.96}}) {
    const Indices indices = RandomIndices(range, ratio, &random);
    const double got = 8.0 * SmallestIndexForm(indices).size_bytes / indices.size();
    EXPECT_NEAR(got, bits, ratio < 0.005 ? 0.05 : 0.02) << ratio;
  }
}

TEST(SparseIndicesTest, NoOtherFormIsSmaller) {
  Random random(3);
  for (double ratio : {0.001, 0.02, 0.2, 0.6}) {
    const Indices indices = RandomIndices(5000, ratio, &random);
    const SparseIndexForm best = SmallestIndexForm(indices);
    for (int low_bits = 0; low_bits <= 30; ++low_bits) {
      int64_t unary_bits = 0;
      int64_t next = 0;
      for (uint32_t index : indices) {
        unary_bits += ((index - next) >> low_bits) + 1;
        next = index + 1;
      }
      const int64_t low_bytes = (static_cast<int64_t>(indices.size()) * low_bits + 7) / 8;
      // A part may be rounded up to a whole byte.
      EXPECT_GE(low_bytes + (unary_bits + 7) / 8 + 1, best.size_bytes) << ratio << " " << low_bits;
    }
  }
}

TEST(SparseIndicesTest, RefusesWhatIsNoList) {
  EXPECT_THAT(Error({0b100}, 31, 1, 100), HasSubstr("0 to 30 low bits, got 31"));
  EXPECT_THAT(Error({0b100}, -1, 1, 100), HasSubstr("0 to 30 low bits"));
  EXPECT_THAT(Error({0b100}, 0, 101, 100), HasSubstr("number inside the range, got 100"));
  EXPECT_THAT(Error({0b100}, 0, -1, 100), HasSubstr("number inside the range"));
  EXPECT_THAT(Error({0b100}, 9, 1, 1000), HasSubstr("all their low bits, got 1"));
  EXPECT_THAT(Error({0b100, 0b1}, 2, 1, 100), HasSubstr("zeros behind their low bits"));
  EXPECT_THAT(Error({0b1}, 0, 2, 100), HasSubstr("a one for each in their unary part, got 1"));
  EXPECT_THAT(Error({0b111}, 0, 2, 100), HasSubstr("a one for each in their unary part, got 3"));
  EXPECT_THAT(Error({0b11, 0}, 0, 2, 100), HasSubstr("nothing behind the last one"));
  EXPECT_THAT(Error({}, 0, 1, 100), HasSubstr("a one for each"));
  EXPECT_THAT(Error({0}, 0, 0, 100), HasSubstr("nothing behind the last one"));
  EXPECT_TRUE(CheckSparseIndices({}, 0, 0, 0).ok());
}

TEST(SparseIndicesTest, RefusesIndicesOutsideTheRange) {
  EXPECT_TRUE(CheckSparseIndices(Bytes{0b1000}, 0, 1, 4).ok());
  EXPECT_THAT(Error({0b1000}, 0, 1, 3), HasSubstr("the last one inside the range, got 3"));
  // 0b11 low, one high: index 7.
  EXPECT_TRUE(CheckSparseIndices(Bytes{0b11, 0b10}, 2, 1, 8).ok());
  EXPECT_THAT(Error({0b11, 0b10}, 2, 1, 7), HasSubstr("the last one inside the range, got 7"));
  EXPECT_THAT(Error({0, 0, 0, 0, 0, 0, 0, 0, 0x80}, 30, 1, kMaxSparseRange), HasSubstr("inside the range"));
}

}  // namespace
}  // namespace banyan
