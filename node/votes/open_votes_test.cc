#include "node/votes/open_votes.h"

#include <optional>

#include "gtest/gtest.h"

namespace banyan {
namespace {

OpenVotes::Part PartOf(float value) {
  const Buffer offered = Buffer::CopyOf({value, -value});
  return {{4, 2}, {{VoteCount::OfVoter(offered.floats(), value, VoteRules()), offered, Buffer()}}};
}

TEST(OpenVotesTest, GivesThoseOfTheEpochThatMadeTheResult) {
  OpenVotes open;
  open.Keep(ChunkIndex(1), Epoch(2), PartOf(2));
  open.Keep(ChunkIndex(1), Epoch(3), PartOf(3));
  open.Keep(ChunkIndex(2), Epoch(3), PartOf(4));
  const std::optional<OpenVotes::Part> part = open.Take(ChunkIndex(1), Epoch(2));
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->range, (ElementRange{4, 2}));
  EXPECT_EQ(part->votes[0].offered().gradient[0], 2);
  EXPECT_FALSE(open.Take(ChunkIndex(1), Epoch(3)).has_value()) << "the chunk has its one result";
  EXPECT_TRUE(open.Take(ChunkIndex(2), Epoch(3)).has_value());
}

TEST(OpenVotesTest, WhatAnotherEpochMadeTakesNothing) {
  OpenVotes open;
  open.Keep(ChunkIndex(1), Epoch(3), PartOf(3));
  EXPECT_EQ(open.size_bytes(), 8);
  EXPECT_FALSE(open.Take(ChunkIndex(1), Epoch(2)).has_value());
  EXPECT_EQ(open.size_bytes(), 0);
}

}  // namespace
}  // namespace banyan
