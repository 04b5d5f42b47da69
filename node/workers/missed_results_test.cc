#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/workers/local_keys.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

Buffer BufferOf(const std::vector<float>& values) { return Buffer::CopyOf(values); }

std::vector<float> Given(MissedResults& missed) {
  std::vector<float> given(3, -1);
  missed.Give(3, DataType::kFloat32, [&given](int64_t first_element, const Buffer& values) {
    for (int64_t i = 0; i < values.elements(); ++i) given[first_element + i] = values.floats()[i];
  });
  return given;
}

TEST(MissedResultsTest, SumsWhatWasNotGiven) {
  MissedResults missed(Round(4));
  EXPECT_EQ(missed.through(), Round(4));
  missed.Add(Round(5), {{0, BufferOf({1, 2})}, {2, BufferOf({3})}}, 3, /*replaces=*/false);
  missed.Add(Round(6), {{0, BufferOf({10, 20, 30})}}, 3, /*replaces=*/false);
  missed.Add(Round(7), {{0, BufferOf({100})}, {1, BufferOf({200, 300})}}, 3, /*replaces=*/false);
  EXPECT_EQ(missed.through(), Round(7));
  EXPECT_EQ(missed.size_bytes(), 12);
  EXPECT_THAT(Given(missed), ElementsAre(111, 222, 333));
  EXPECT_THAT(Given(missed), ElementsAre(111, 222, 333)) << "the same again";
  EXPECT_TRUE(missed.is_given());
  missed.Add(Round(8), {{0, BufferOf({1, 1, 1})}}, 3, /*replaces=*/false);
  EXPECT_THAT(Given(missed), ElementsAre(1, 1, 1)) << "each result once";
}

TEST(MissedResultsTest, APushEndsWhatWasGiven) {
  MissedResults missed(Round(0));
  missed.Add(Round(1), {{0, BufferOf({1, 2, 3})}}, 3, /*replaces=*/false);
  missed.OnPushed(/*replaces=*/false);
  EXPECT_THAT(Given(missed), ElementsAre(1, 2, 3)) << "it was not given before";
  missed.OnPushed(/*replaces=*/false);
  EXPECT_THAT(Given(missed), ElementsAre(0, 0, 0)) << "nothing new";
}

TEST(MissedResultsTest, OfValuesTheLastOnesCount) {
  MissedResults missed(Round(0));
  missed.Add(Round(1), {{0, BufferOf({1, 2, 3})}}, 3, /*replaces=*/true);
  missed.Add(Round(2), {{0, BufferOf({4, 5, 6})}}, 3, /*replaces=*/true);
  EXPECT_THAT(Given(missed), ElementsAre(4, 5, 6));
  missed.OnPushed(/*replaces=*/true);
  EXPECT_THAT(Given(missed), ElementsAre(4, 5, 6)) << "they still hold";
}

TEST(MissedResultsTest, WhatOthersHoldIsNotChanged) {
  MissedResults missed(Round(0));
  const Buffer shared = BufferOf({1, 2, 3});
  missed.Add(Round(1), {{0, shared}}, 3, /*replaces=*/false);
  missed.Add(Round(2), {{0, BufferOf({1, 1, 1})}}, 3, /*replaces=*/false);
  EXPECT_THAT(Given(missed), ElementsAre(2, 3, 4));
  EXPECT_THAT(shared.floats(), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace banyan
