#include "tools/precision_benchmark/precision_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PrecisionOptionsTest : public ::testing::Test {
 protected:
  std::optional<int> Parse(std::vector<std::string> arguments) {
    return ParsePrecisionOptions(arguments, options_, out_, err_);
  }

  PrecisionOptions options_;
  std::ostringstream out_, err_;
};

TEST_F(PrecisionOptionsTest, DefaultsCompareFullStaticAndControlled) {
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_THAT(options_.settings, ElementsAre("fp32", "static", "calibrated"));
  EXPECT_EQ(options_.damage, Damage::kNone);
  EXPECT_EQ(options_.seeds, 3);
}

TEST_F(PrecisionOptionsTest, EachModelHasDefaultsThatFlagsReplace) {
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(options_.model, TrainedModel::kImages);
  EXPECT_EQ(options_.binding, "deploy/precision/binding.yaml");
  EXPECT_EQ(options_.batch, 16);
  options_ = {};
  EXPECT_EQ(Parse({"--model", "residual"}), std::nullopt);
  EXPECT_EQ(options_.binding, "deploy/precision/residual/binding.yaml");
  EXPECT_EQ(options_.learning_rate, 0.1);
  options_ = {};
  EXPECT_EQ(Parse({"--model", "text", "--batch", "4"}), std::nullopt);
  EXPECT_EQ(options_.model, TrainedModel::kText);
  EXPECT_EQ(options_.profile, "deploy/precision/text/profile.yaml");
  EXPECT_EQ(options_.batch, 4);
  EXPECT_EQ(options_.learning_rate, 0.003);
}

TEST_F(PrecisionOptionsTest, FlagsAreRead) {
  EXPECT_EQ(
      Parse({"--settings", "no-veto,noise-aware", "--damage", "poison", "--mean", "--bind-all", "--rounds", "50"}),
      std::nullopt);
  EXPECT_THAT(options_.settings, ElementsAre("no-veto", "noise-aware"));
  EXPECT_EQ(options_.damage, Damage::kPoison);
  EXPECT_TRUE(options_.mean && options_.binds_all);
  EXPECT_EQ(options_.rounds, 50);
}

TEST_F(PrecisionOptionsTest, BoundsAreShares) {
  EXPECT_EQ(Parse({"--exposure", "0.2,1"}), std::nullopt);
  EXPECT_THAT(options_.bounds, ElementsAre(0.2, 1));
  EXPECT_EQ(Parse({"--exposure", "0.2,20"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected shares from 0 to 1"));
}

TEST_F(PrecisionOptionsTest, AnUnknownSettingIsRefusedWithAGuess) {
  EXPECT_EQ(Parse({"--settings", "fp32,noise-awar"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'noise-aware'?"));
  EXPECT_EQ(Parse({"--damage", "fire"}), 2);
}

}  // namespace
}  // namespace banyan
