#include "tools/accuracy_benchmark/accuracy_options.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AccuracyOptionsTest : public ::testing::Test {
 protected:
  std::optional<int> Parse(std::vector<std::string> arguments) {
    return ParseAccuracyOptions(arguments, options_, out_, err_);
  }

  AccuracyOptions options_;
  std::ostringstream out_, err_;
};

TEST_F(AccuracyOptionsTest, TheDefaultsAreTheSevenCombinationsOfTheTable) {
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(options_.combinations.size(), 7u);
  EXPECT_TRUE(options_.combinations[0].config.rules.empty());
  EXPECT_EQ(options_.combinations[6].config.rules.at(0).controller, RatioControllerKind::kDa5);
  EXPECT_THAT(options_.mbps, ElementsAre(200));
  EXPECT_EQ(options_.scenario, AccuracyScenario::kStatic);
}

TEST_F(AccuracyOptionsTest, ScenariosHaveDefaultsOfTheirOwn) {
  EXPECT_EQ(Parse({"--scenario", "degrading"}), std::nullopt);
  EXPECT_EQ(options_.combinations.size(), 4u);
  EXPECT_THAT(options_.mbps, ElementsAre(2000));
}

TEST_F(AccuracyOptionsTest, HalvesStandBesideFloatsInEveryScenario) {
  for (const char* scenario : {"static", "degrading", "fluctuating", "dc2"}) {
    options_ = {};
    EXPECT_EQ(Parse({"--scenario", scenario}), std::nullopt);
    EXPECT_EQ(options_.combinations[0].name, "none") << scenario;
    EXPECT_EQ(options_.combinations[1].config.rules.at(0).codec, CodecId::kFp16) << scenario;
  }
}

TEST_F(AccuracyOptionsTest, FlagsAreRead) {
  EXPECT_EQ(Parse({"mine.yaml", "--compression", "none", "--compression={codec: fp16}", "--rate", "200,500,800",
                   "--epochs", "2", "--json"}),
            std::nullopt);
  EXPECT_EQ(options_.overlay, "mine.yaml");
  ASSERT_EQ(options_.combinations.size(), 2u);
  EXPECT_EQ(options_.combinations[1].name, "{codec: fp16}");
  EXPECT_EQ(options_.combinations[1].config.rules.at(0).codec, CodecId::kFp16);
  EXPECT_THAT(options_.mbps, ElementsAre(200, 500, 800));
  EXPECT_EQ(options_.epochs, 2);
  EXPECT_TRUE(options_.json);
}

TEST_F(AccuracyOptionsTest, SharesThatAreCutAreOfAllEncodingsInLevels) {
  EXPECT_EQ(Parse({"--trim", "0,0.001,0.5"}), std::nullopt);
  EXPECT_THAT(options_.trims, ElementsAre(0, 0.001, 0.5));
  ASSERT_EQ(options_.combinations.size(), 6u);
  EXPECT_EQ(options_.combinations[0].name, "{codec: trim_sign}");
  options_ = {};
  EXPECT_EQ(Parse({"--trim", "0.5", "--compression", "{codec: trim_rht}"}), std::nullopt);
  EXPECT_EQ(options_.combinations.size(), 1u);
  EXPECT_EQ(Parse({"--trim", "50"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected shares from 0 to 1"));
}

}  // namespace
}  // namespace banyan
