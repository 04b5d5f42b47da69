#include "tools/packet_benchmark/packet_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PacketOptionsTest : public ::testing::Test {
 protected:
  std::optional<int> Parse(std::vector<std::string> arguments) {
    return ParsePacketOptions(arguments, options_, out_, err_);
  }

  PacketOptions options_;
  std::ostringstream out_, err_;
};

TEST_F(PacketOptionsTest, DefaultsTryAllSchemes) {
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(options_.schemes, PacketSchemeNames());
  EXPECT_THAT(options_.trims, ElementsAre(0, 0.02, 0.1, 0.5));
  EXPECT_EQ(options_.learning_rate, 0.02);
}

TEST_F(PacketOptionsTest, WeightsGoWithSchemesThatKeepNothing) {
  EXPECT_EQ(Parse({"--weights", "--model", "residual"}), std::nullopt);
  EXPECT_THAT(options_.schemes, ElementsAre("sign", "sign-rows", "rht", "rht-rows"));
  EXPECT_EQ(options_.learning_rate, 0.1);
  EXPECT_EQ(Parse({"--weights", "--schemes", "low-rank"}), 2);
}

TEST_F(PacketOptionsTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(Parse({"--schemes", "rth"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'rht'?"));
  EXPECT_EQ(Parse({"--trim", "2"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected shares from 0 to 1"));
  EXPECT_EQ(Parse({"--bits", "4"}), 2);
}

}  // namespace
}  // namespace banyan
