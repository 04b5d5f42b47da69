#include "runtime/local_updates/outer_tensor.h"

#include <cstdint>
#include <vector>

#include "compression/kernels/half_float.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using testing::ElementsAre;

TEST(OuterTensorTest, StepsAsNesterovDoes) {
  std::vector<float> model = {1, 2};
  OuterTensor tensor(absl::MakeSpan(model), /*has_momentum=*/true);
  model = {0.5f, 3};
  tensor.Compare(1);
  EXPECT_THAT(tensor.exchanged().floats(), ElementsAre(0.5f, -1));
  tensor.Move({.learning_rate = 0.5, .momentum = 0.5}, 1);
  // Momentum 0.5, -1; along 0.75, -1.5.
  EXPECT_THAT(tensor.parameters(), ElementsAre(0.625f, 2.75f));
  tensor.Load(0);
  EXPECT_EQ(model, std::vector<float>({0.625f, 2.75f}));
  model = {0.125f, 2.75f};
  tensor.Compare(1);
  tensor.Move({.learning_rate = 0.5, .momentum = 0.5}, 1);
  EXPECT_THAT(tensor.momentum(), ElementsAre(0.75f, -0.5f));
  EXPECT_THAT(tensor.parameters(), ElementsAre(0.625f - 0.5f * 0.875f, 2.75f + 0.5f * 0.25f));
}

TEST(OuterTensorTest, WithoutMomentumTheMeanIsTheNewPlace) {
  std::vector<float> model = {1, 2};
  OuterTensor tensor(absl::MakeSpan(model), /*has_momentum=*/false);
  model = {3, 5};
  tensor.Compare(1);
  tensor.Move({.learning_rate = 1}, 1);
  EXPECT_THAT(tensor.parameters(), ElementsAre(3, 5));
  EXPECT_TRUE(tensor.momentum().empty());
}

TEST(OuterTensorTest, BlendsWhatTheWorkerHas) {
  std::vector<float> model = {1};
  OuterTensor tensor(absl::MakeSpan(model), /*has_momentum=*/false);
  model = {5};
  tensor.Load(0.25);
  EXPECT_EQ(model, std::vector<float>({2}));
}

TEST(OuterTensorTest, WeightsCount) {
  std::vector<float> model = {1};
  OuterTensor tensor(absl::MakeSpan(model), /*has_momentum=*/false);
  model = {0};
  tensor.Compare(8);
  EXPECT_THAT(tensor.exchanged().floats(), ElementsAre(8));
  tensor.Move({.learning_rate = 0.25}, 4);
  EXPECT_THAT(tensor.parameters(), ElementsAre(0.5f));
  tensor.Compare(0);
  tensor.Move({.learning_rate = 0.25}, 0);  // nobody has samples
  EXPECT_THAT(tensor.parameters(), ElementsAre(0.5f));
}

TEST(OuterTensorTest, HalvesTravelAndParametersStayExact) {
  std::vector<uint16_t> model(2);
  auto* const bytes = reinterpret_cast<uint8_t*>(model.data());
  FloatsToBrainFloats({{1, -2}}, bytes);
  OuterTensor tensor(TensorView(bytes, 2, DataType::kBFloat16), /*has_momentum=*/false);
  EXPECT_THAT(tensor.parameters(), ElementsAre(1, -2));
  FloatsToBrainFloats({{1.5f, -2}}, bytes);
  tensor.Compare(1);
  EXPECT_EQ(tensor.exchanged().type(), DataType::kBFloat16);
  // A step of 1/1024 is less than a bfloat16 near 1 can show.
  tensor.Move({.learning_rate = 1.0 / 512}, 1);
  EXPECT_THAT(tensor.parameters(), ElementsAre(1 + 1.0f / 1024, -2));
  tensor.Load(0);
  std::vector<float> now(2);
  BrainFloatsToFloats(bytes, absl::MakeSpan(now));
  EXPECT_THAT(now, ElementsAre(1, -2));
  tensor.Compare(1);
  BrainFloatsToFloats(tensor.exchanged().bytes().data(), absl::MakeSpan(now));
  EXPECT_THAT(now, ElementsAre(1.0f / 1024, 0));
}

}  // namespace
}  // namespace banyan
