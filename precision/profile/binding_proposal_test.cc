#include "precision/profile/binding_proposal.h"

#include <gtest/gtest.h>

#include "precision/samples/model_tensors.h"

namespace banyan {
namespace {

PrecisionBinding Propose(const std::vector<NamedShape>& tensors) {
  return ProposeBinding(tensors, LowBitFamily::kTernary, "proposal", "a test");
}

TEST(BindingProposalTest, FindsWhatThePaperBound) {
  // The encoder weights are 63.43 % of DistilBERT, 77.58 % of BERT-base, 85.39 % and 93.95 % of the Pythias.
  const PrecisionBinding distilbert = Propose(DistilBertTensors());
  EXPECT_EQ(distilbert.elements(), 66955010);
  EXPECT_EQ(distilbert.candidate_elements(), 42467328);
  const auto share = [](const PrecisionBinding& binding) {
    return static_cast<double>(binding.candidate_elements()) / static_cast<double>(binding.elements());
  };
  EXPECT_NEAR(share(Propose(BertBaseTensors())), 0.7758, 0.0001);
  EXPECT_NEAR(share(Propose(PythiaTensors(24, 2048, 50304))), 0.8539, 0.0001);
  EXPECT_NEAR(share(Propose(PythiaTensors(32, 4096, 50432))), 0.9395, 0.0001);
}

TEST(BindingProposalTest, TakesTheLastMatrixForTheHeadWhereNoNameTellsIt) {
  const PrecisionBinding binding = Propose({{"conv1.weight", {8, 1, 3, 3}},
                                            {"conv1.bias", {8}},
                                            {"bn1.weight", {8}},
                                            {"embed.weight", {10, 4}},
                                            {"fc1.weight", {16, 72}},
                                            {"fc2.weight", {10, 16}},
                                            {"scale", {3}}});
  const auto role = [&binding](const char* name) { return binding.Find(name)->slices[0].role; };
  EXPECT_EQ(role("conv1.weight"), TensorRole::kBackbone);
  EXPECT_EQ(role("conv1.bias"), TensorRole::kBias);
  EXPECT_EQ(role("bn1.weight"), TensorRole::kNorm);
  EXPECT_EQ(role("embed.weight"), TensorRole::kEmbedding);
  EXPECT_EQ(role("fc1.weight"), TensorRole::kEncoder);
  EXPECT_EQ(role("fc2.weight"), TensorRole::kHead);
  EXPECT_EQ(role("scale"), TensorRole::kOther);
  EXPECT_EQ(binding.candidate_elements(), 72 + 16 * 72);
  EXPECT_EQ(binding.Find("fc2.weight")->slices[0].reason, "the last matrix, and no name tells the head");
}

TEST(BindingProposalTest, IsAFileThatIsReadAgain) {
  const PrecisionBinding binding = Propose(DistilBertTensors());
  const absl::StatusOr<PrecisionBinding> read = ReadBinding(BindingYaml(binding), "b.yaml");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->candidate_elements(), binding.candidate_elements());
  EXPECT_EQ(read->tensors().size(), DistilBertTensors().size());
}

}  // namespace
}  // namespace banyan
