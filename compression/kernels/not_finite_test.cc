#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "compression/kernels/vector_math.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

TEST(NotFiniteTest, CountsNaNAndBothInfinities) {
  EXPECT_EQ(CountNotFinite(ConstTensorView()), 0);
  const std::vector<float> finite = {0, -0.0f, 1, -kLargest, kLargest, std::numeric_limits<float>::denorm_min()};
  EXPECT_EQ(CountNotFinite(finite), 0);
  const std::vector<float> odd = {
      kInfinity, 1, -kInfinity, std::nanf(""), -std::nanf(""), std::bit_cast<float>(0x7f800001u)};
  EXPECT_EQ(CountNotFinite(odd), 5);
}

TEST(NotFiniteTest, FindsOneAnywhere) {
  for (const size_t size : {1u, 7u, 16u, 33u, 4095u, 4096u, 4097u, 10000u}) {
    std::vector<float> values(size, 2.0f);
    EXPECT_EQ(CountNotFinite(values), 0) << size;
    for (const size_t at : {size_t{0}, size / 2, size - 1}) {
      values[at] = std::nanf("");
      EXPECT_EQ(CountNotFinite(values), 1) << size << " at " << at;
      values[at] = 2.0f;
    }
  }
}

TEST(NotFiniteTest, CopiesAsItCounts) {
  std::vector<float> from(9001, 3.0f);
  from[5000] = -kInfinity;
  from[9000] = kInfinity;
  std::vector<float> to(9001);
  EXPECT_EQ(CopyCountingNotFinite(from, absl::MakeSpan(to)), 2);
  EXPECT_EQ(to, from);
}

TEST(NotFiniteTest, EveryTypeHasItsOwn) {
  // One, infinity, a NaN and the largest number.
  std::vector<uint16_t> halves(10000, 0x3c00);
  halves[5] = 0x7c00;
  halves[9999] = 0xfe00;
  halves[8000] = 0x7bff;
  std::vector<uint16_t> copy(10000);
  const auto length = static_cast<int64_t>(halves.size());
  EXPECT_EQ(CopyCountingNotFinite({halves.data(), length, DataType::kFloat16},
                                  TensorView(copy.data(), length, DataType::kFloat16)),
            2);
  EXPECT_EQ(copy, halves);
  halves[8000] = 0x7f80;
  // 0x7c00 and 0xfe00 are finite bfloat16.
  EXPECT_EQ(CountNotFinite({halves.data(), length, DataType::kBFloat16}), 1);
  EXPECT_EQ(CountNotFinite(std::vector<double>{1e308, HUGE_VAL, std::nan(""), -HUGE_VAL}), 3);
  EXPECT_EQ(CountNotFinite(std::vector<int64_t>{-1, 0x7ff0000000000000}), 0);
}

TEST(NotFiniteTest, LargeIsWhatIsFiniteAndAtLeastThat) {
  EXPECT_FALSE(HasFiniteFrom({}, 65520));
  const std::vector<float> small = {65519.99f, -65519.99f, kInfinity, -kInfinity, std::nanf(""), 0};
  EXPECT_FALSE(HasFiniteFrom(small, 65520));
  EXPECT_TRUE(HasFiniteFrom({65520.0f}, 65520));
  EXPECT_TRUE(HasFiniteFrom({1.0f, -65520.0f}, 65520));
  std::vector<float> many(5000, 1.0f);
  many[4999] = kLargest;
  EXPECT_TRUE(HasFiniteFrom(many, 65520));
}

}  // namespace
}  // namespace banyan
