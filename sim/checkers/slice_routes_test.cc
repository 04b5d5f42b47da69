#include "sim/checkers/slice_routes.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

using enum PrecisionRoute;

constexpr KeyId kKey(1);

class SliceRoutesTest : public testing::Test {
 protected:
  void Send(const Message& message) {
    slices_.OnSent({.now = Timestamp(), .from = NodeId(0), .to = NodeId(2), .message = message, .payload = Payload()});
  }
  void Publish(uint64_t version, int64_t chunk_max_elements) {
    PolicySlice slice;
    slice.version = PolicyVersion(version);
    slice.chunk_max_elements = chunk_max_elements;
    Send(PolicyPublished{Term(1), slice});
  }
  void Bind(uint64_t policy, uint64_t first, uint64_t last, KeyRoutes routes, int64_t chunk_max_elements = 0) {
    Send(PolicyAnswer{
        Term(1),
        Epoch(1),
        {{kKey, Round(first), Round(last), PolicyVersion(policy), Attempt(0), chunk_max_elements, routes}}});
  }
  static ChunkMessage Chunk(uint64_t policy, uint64_t round, uint32_t index) {
    ChunkMessage chunk;
    chunk.id = {Epoch(1), Attempt(0), Round(round), kKey, ChunkIndex(index), Half::kReduce};
    chunk.policy = PolicyVersion(policy);
    return chunk;
  }

  SliceRoutes slices_;
};

TEST_F(SliceRoutesTest, ChunksLieInSlicesInTheSizeOfTheAnswer) {
  Send(KeysAssigned{Term(1), KeyTableVersion(1), {{kKey, "w", 20, 0, DataType::kFloat32, {6}}}});
  Publish(1, 4);
  Bind(1, 1, 3, kLowBit);
  Bind(1, 4, 4, kLowBit, /*chunk_max_elements=*/7);
  const ChunkMessage small = Chunk(1, 2, 2);
  ASSERT_NE(slices_.FindAnswer(small), nullptr);
  const auto place = slices_.FindPlace(small, *slices_.FindAnswer(small));
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->slice, 1u);
  EXPECT_EQ(place->slice_range, (ElementRange{6, 14}));
  EXPECT_EQ(place->range.first_element, 6);
  const ChunkMessage large = Chunk(1, 4, 2);
  const auto wider = slices_.FindPlace(large, *slices_.FindAnswer(large));
  ASSERT_TRUE(wider.has_value());
  EXPECT_EQ(wider->range, (ElementRange{13, 7}));
  EXPECT_FALSE(slices_.FindPlace(Chunk(1, 4, 3), *slices_.FindAnswer(large)).has_value());
  EXPECT_EQ(slices_.SlicesOf(kKey), 2u);
  EXPECT_EQ(slices_.NameOf(kKey), "w");
}

TEST_F(SliceRoutesTest, EachPolicyHasItsOwnAnswer) {
  Publish(1, 4);
  Publish(2, 4);
  Bind(1, 1, 9, kPlain);
  Bind(1, 1, 4, kPlain);
  Bind(2, 5, 9, kLowBit);
  EXPECT_EQ(slices_.FindAnswer(Chunk(1, 7, 0))->routes, KeyRoutes(kPlain)) << "who has not heard of the cut";
  EXPECT_EQ(slices_.FindAnswer(Chunk(2, 7, 0))->routes, KeyRoutes(kLowBit));
  EXPECT_EQ(slices_.FindAnswer(Chunk(2, 4, 0)), nullptr);
  EXPECT_EQ(slices_.FindAnswer(Chunk(3, 4, 0)), nullptr);
  slices_.OnRecordsLost();
  EXPECT_EQ(slices_.FindAnswer(Chunk(2, 7, 0)), nullptr);
}

TEST_F(SliceRoutesTest, TheNewestAnswerUnderAPolicyCounts) {
  Publish(1, 4);
  Bind(1, 1, 9, kPlain);
  Bind(1, 5, 7, kFallback);
  for (const uint64_t round : {4, 8, 9}) EXPECT_EQ(slices_.FindAnswer(Chunk(1, round, 0))->routes, KeyRoutes(kPlain));
  for (const uint64_t round : {5, 7}) EXPECT_EQ(slices_.FindAnswer(Chunk(1, round, 0))->routes, KeyRoutes(kFallback));
}

}  // namespace
}  // namespace banyan
