#include "compression/control/ratio_config.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace banyan {
namespace {

TEST(RatioConfigTest, NamesAreThoseOfTheFile) {
  EXPECT_EQ(*ParseRatioControllerKind("fixed"), RatioControllerKind::kFixed);
  EXPECT_EQ(*ParseRatioControllerKind("netsense"), RatioControllerKind::kNetSense);
  EXPECT_EQ(*ParseRatioControllerKind("da1"), RatioControllerKind::kDa1);
  EXPECT_EQ(*ParseRatioControllerKind("da5"), RatioControllerKind::kDa5);
  EXPECT_EQ(*ParseRatioControllerKind("budget"), RatioControllerKind::kBudget);
}

TEST(RatioConfigTest, EveryKindHasANameOfItsOwn) {
  std::set<std::string> names;
  for (RatioControllerKind kind : AllRatioControllerKinds()) {
    EXPECT_EQ(*ParseRatioControllerKind(NameOf(kind)), kind);
    names.emplace(NameOf(kind));
  }
  EXPECT_EQ(names.size(), 8u);
}

TEST(RatioConfigTest, AnUnknownNameIsAnsweredWithTheNames) {
  for (const char* name : {"", "da6", "DA2", "netsense "}) {
    const absl::Status status = ParseRatioControllerKind(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              std::string("expected a ratio controller (fixed, netsense, da1, da2, da3, da4, da5, budget), got '") +
                  name + "'");
  }
}

TEST(RatioConfigTest, OnlyTheNumbersOfTheKindCount) {
  RatioControllerConfig config;
  config.fixed.ratio = 7;
  EXPECT_FALSE(CheckRatioControllerConfig(config).ok());
  for (RatioControllerKind kind : AllRatioControllerKinds()) {
    if (kind == RatioControllerKind::kFixed) continue;
    config.kind = kind;
    EXPECT_TRUE(CheckRatioControllerConfig(config).ok()) << NameOf(kind);
  }
  config.delay_adaptive.window_rounds = 0;
  for (RatioControllerKind kind : AllRatioControllerKinds()) {
    config.kind = kind;
    const bool is_delay_adaptive = NameOf(kind).substr(0, 2) == "da";
    EXPECT_EQ(CheckRatioControllerConfig(config).ok(), !is_delay_adaptive && kind != RatioControllerKind::kFixed);
  }
}

TEST(RatioConfigTest, AKindThatDoesNotExistIsRefused) {
  RatioControllerConfig config;
  config.kind = static_cast<RatioControllerKind>(99);
  EXPECT_EQ(CheckRatioControllerConfig(config).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace banyan
