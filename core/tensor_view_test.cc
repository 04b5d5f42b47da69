#include "core/tensor_view.h"

#include <array>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(TensorViewTest, RowsBecomeViewsOfTheirType) {
  std::vector<double> doubles = {1, 2};
  std::vector<int32_t> integers = {3};
  std::array<float, 3> floats = {4, 5, 6};
  const TensorView view = doubles;
  EXPECT_EQ(view.type(), DataType::kFloat64);
  EXPECT_EQ(view.size_bytes(), 16);
  view.As<double>()[1] = 7;
  EXPECT_EQ(doubles[1], 7);
  EXPECT_EQ(TensorView(integers).type(), DataType::kInt32);
  EXPECT_EQ(TensorView(absl::MakeSpan(floats)).floats()[2], 6);
  EXPECT_EQ(ConstTensorView(std::vector<int64_t>{8}).type(), DataType::kInt64);
  const ConstTensorView read = view;
  EXPECT_EQ(read.As<double>()[0], 1);
  EXPECT_EQ(ConstTensorView(floats.data(), 2).elements(), 2);
  EXPECT_TRUE(TensorView().empty());
}

// What would be gone at once cannot be written through a view, and what is read only not at all.
TEST(TensorViewTest, OnlyWhatStaysCanBeWritten) {
  EXPECT_FALSE((std::is_constructible_v<TensorView, std::vector<float>>));
  EXPECT_FALSE((std::is_constructible_v<TensorView, const std::vector<float>&>));
  EXPECT_FALSE((std::is_constructible_v<TensorView, absl::Span<const float>>));
  EXPECT_FALSE((std::is_constructible_v<ConstTensorView, std::vector<uint16_t>>));
}

TEST(TensorViewTest, SlicesCountInElements) {
  std::vector<uint16_t> halves = {1, 2, 3, 4};
  const TensorView view(halves.data(), 4, DataType::kBFloat16);
  EXPECT_EQ(view.Slice(1, 2).data(), halves.data() + 1);
  EXPECT_EQ(view.Slice(1, 2).bytes().size(), 4u);
}

// Where it would lie: nothing is read there.
TEST(TensorViewTest, MoreElementsThan32BitsHoldHaveTheirPlaces) {
  const int64_t many = int64_t{3} << 31;
  const TensorView view(nullptr, many, DataType::kFloat64);
  EXPECT_EQ(view.size_bytes(), many * 8);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.Slice(many - 1, 1).data()), static_cast<uintptr_t>(many - 1) * 8);
}

}  // namespace
}  // namespace banyan
