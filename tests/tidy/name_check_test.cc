#include "tests/tidy/name_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan {
namespace {

std::string InBanyan(const std::string& text) { return "namespace banyan {\n" + text + "\n}  // namespace banyan\n"; }

size_t Count(const std::string& first, const std::string& second) {
  return CheckNames({{"core/a.h", InBanyan(first)}, {"node/b.cc", InBanyan(second)}}).size();
}

TEST(NameCheckTest, SecondDefinitionIsFoundWithBothPlaces) {
  const std::vector<std::string> findings =
      CheckNames({{"core/a.h", InBanyan("struct Half {};")}, {"node/b.h", InBanyan("\nenum class Half { kOne };")}});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].starts_with("node/b.h:3: defines banyan::Half, which core/a.h:2 does already"))
      << findings[0];
}

TEST(NameCheckTest, EveryKindOfTypeCounts) {
  for (const char* kind : {"class A {};", "struct A : B {};", "enum A { kA };", "using A = int;", "union A {};"}) {
    EXPECT_EQ(Count("struct A {};", kind), 1u) << kind;
  }
}

TEST(NameCheckTest, DeclarationsAreNoDefinitions) {
  EXPECT_EQ(Count("struct A {};", "struct A;\nenum class A : int;\nA F(A a) { return a; }"), 0u);
}

TEST(NameCheckTest, WhatNobodyElseSeesIsFree) {
  EXPECT_EQ(Count("struct A {};", "namespace {\nstruct A {};\n}"), 0u);
  EXPECT_EQ(Count("struct A {};", "class B {\n  struct A {};\n};"), 0u);
  EXPECT_EQ(Count("struct A {};", "void F() {\n  struct A {};\n}"), 0u);
}

TEST(NameCheckTest, OtherNamespacesAreFree) {
  EXPECT_EQ(Count("struct A {};", "namespace inner {\nstruct A {};\n}"), 0u);
  EXPECT_TRUE(CheckNames({{"core/a.h", "struct A {};\n"}, {"core/b.h", "struct A {};\n"}}).empty());
}

TEST(NameCheckTest, TestsAreFreeAndTheirHelpersAreNot) {
  const SourceFile here = {"core/a.h", InBanyan("struct A {};")};
  EXPECT_TRUE(CheckNames({here, {"core/a_test.cc", InBanyan("struct A {};")}}).empty());
  EXPECT_EQ(CheckNames({here, {"core/testing/a.h", InBanyan("struct A {};")}}).size(), 1u);
}

}  // namespace
}  // namespace banyan
