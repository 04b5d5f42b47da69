#include "tests/tidy/cycle_search.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan {
namespace {

using Cycles = std::vector<std::vector<std::string>>;

TEST(CycleSearchTest, NoCycleWithoutAWayBack) {
  EXPECT_TRUE(FindCycles({}).empty());
  EXPECT_TRUE(FindCycles({{"a", {"b", "c", "d"}}, {"b", {"c", "d"}}, {"c", {"d"}}}).empty());
}

TEST(CycleSearchTest, CycleIsFoundInOrder) {
  EXPECT_EQ(FindCycles({{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}}), (Cycles{{"a", "b", "c"}}));
}

TEST(CycleSearchTest, WhatLeadsToACycleIsNoPartOfIt) {
  EXPECT_EQ(FindCycles({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b", "d"}}}), (Cycles{{"b", "c"}}));
}

TEST(CycleSearchTest, ANameThatPointsAtItselfIsACycle) { EXPECT_EQ(FindCycles({{"a", {"a"}}}), (Cycles{{"a"}})); }

TEST(CycleSearchTest, SeparateCyclesAreAllFound) {
  EXPECT_EQ(FindCycles({{"a", {"b"}}, {"b", {"a"}}, {"c", {"a", "d"}}, {"d", {"c"}}}),
            (Cycles{{"a", "b"}, {"c", "d"}}));
}

TEST(CycleSearchTest, TextClosesTheCycle) { EXPECT_EQ(CycleText({"a", "b"}), "a -> b -> a"); }

}  // namespace
}  // namespace banyan
