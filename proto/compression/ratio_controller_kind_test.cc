#include <gtest/gtest.h>

#include <set>
#include <string>

#include "proto/compression/ratio_numbers.h"

namespace banyan {
namespace {

TEST(RatioControllerKindTest, NamesAreThoseOfTheFile) {
  EXPECT_EQ(*ParseRatioControllerKind("fixed"), RatioControllerKind::kFixed);
  EXPECT_EQ(*ParseRatioControllerKind("netsense"), RatioControllerKind::kNetSense);
  EXPECT_EQ(*ParseRatioControllerKind("da1"), RatioControllerKind::kDa1);
  EXPECT_EQ(*ParseRatioControllerKind("da5"), RatioControllerKind::kDa5);
  EXPECT_EQ(*ParseRatioControllerKind("budget"), RatioControllerKind::kBudget);
}

TEST(RatioControllerKindTest, EveryKindHasANameOfItsOwn) {
  std::set<std::string> names;
  for (RatioControllerKind kind : AllRatioControllerKinds()) {
    EXPECT_EQ(*ParseRatioControllerKind(NameOf(kind)), kind);
    names.emplace(NameOf(kind));
  }
  EXPECT_EQ(names.size(), 8u);
  EXPECT_EQ(RatioControllerNames().size(), 8u);
  EXPECT_EQ(NameOf(static_cast<RatioControllerKind>(99)), "");
}

TEST(RatioControllerKindTest, AnUnknownNameIsAnsweredWithTheNames) {
  for (const char* name : {"", "da6", "DA2", "netsense "}) {
    const absl::Status status = ParseRatioControllerKind(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              std::string("expected a ratio controller (fixed, netsense, da1, da2, da3, da4, da5, budget), got '") +
                  name + "'");
  }
}

}  // namespace
}  // namespace banyan
