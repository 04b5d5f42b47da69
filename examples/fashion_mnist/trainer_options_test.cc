#include "examples/fashion_mnist/trainer_options.h"

#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class TrainerOptionsTest : public ::testing::Test {
 protected:
  std::optional<int> Parse(std::vector<std::string> arguments) {
    return ParseTrainerOptions(arguments, options_, out_, err_);
  }

  TrainerOptions options_;
  std::ostringstream out_, err_;
};

TEST_F(TrainerOptionsTest, ReadsItsArguments) {
  EXPECT_EQ(Parse({"--node", "unix:/run/n3", "--rank=2", "--world=9", "--batch", "16", "--learning-rate", "0.01"}),
            std::nullopt);
  EXPECT_EQ(options_.node, "unix:/run/n3");
  EXPECT_EQ(options_.rank, 2);
  EXPECT_EQ(options_.world, 9);
  EXPECT_EQ(options_.batch, 16);
  EXPECT_EQ(options_.learning_rate, 0.01);
  EXPECT_EQ(options_.optimizer, "adam");
  EXPECT_EQ(options_.hidden, 128);
  EXPECT_EQ(options_.data, "/usr/share/datasets/fashion-mnist");
}

TEST_F(TrainerOptionsTest, EachOptimizerHasItsRate) {
  EXPECT_EQ(Parse({"--node", "unix:/run/n3"}), std::nullopt);
  EXPECT_EQ(options_.learning_rate, 0.006);
  options_ = TrainerOptions();
  EXPECT_EQ(Parse({"--node", "unix:/run/n3", "--optimizer", "sgd", "--hidden", "512"}), std::nullopt);
  EXPECT_EQ(options_.learning_rate, 0.08);
  EXPECT_EQ(options_.hidden, 512);
  options_ = TrainerOptions();
  EXPECT_EQ(Parse({"--node", "unix:/run/n3", "--optimizer", "momentum"}), std::nullopt);
  EXPECT_EQ(options_.learning_rate, 0.05);
  options_ = TrainerOptions();
  EXPECT_EQ(Parse({"--node", "unix:/run/n3", "--local-steps", "10"}), std::nullopt);
  EXPECT_NEAR(options_.learning_rate, 0.0006, 1e-9) << "the outer momentum goes ten times as far";
}

TEST_F(TrainerOptionsTest, HelpEndsWithSuccess) {
  EXPECT_EQ(Parse({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("trainer --node unix:/run/banyan/n1"));
}

TEST_F(TrainerOptionsTest, RefusesWhatCannotBe) {
  EXPECT_EQ(Parse({}), 2);
  EXPECT_EQ(Parse({"--node", "tcp://127.0.0.1:1"}), 2);
  EXPECT_EQ(Parse({"--node", "unix:/run/n1", "--rank", "9", "--world", "9"}), 2);
  EXPECT_EQ(Parse({"--node", "unix:/run/n1", "--batch", "0"}), 2);
  EXPECT_EQ(Parse({"--node", "unix:/run/n1", "--optimizer", "lion"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected --rank below --world, got 9 of 9"));
}

}  // namespace
}  // namespace banyan
