#include "precision/samples/model_tensors.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

int64_t Parameters(const std::vector<NamedShape>& tensors) {
  int64_t parameters = 0;
  for (const NamedShape& tensor : tensors) parameters += tensor.elements();
  return parameters;
}

// What the libraries say that the models have.
TEST(ModelTensorsTest, HaveAllParameters) {
  EXPECT_EQ(Parameters(ResNet18Tensors(10)), 11173962);
  EXPECT_EQ(Parameters(ResNet18Tensors(100)), 11220132);
  EXPECT_EQ(Parameters(DistilBertTensors()), 66955010);
  EXPECT_EQ(Parameters(BertBaseTensors()), 109483778);
  EXPECT_EQ(Parameters(PythiaTensors(12, 768, 50304)), 162322944);
}

}  // namespace
}  // namespace banyan
