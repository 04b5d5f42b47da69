#include "gtest/gtest.h"
#include "scheduler/policy/replanner.h"

namespace banyan {
namespace {

TEST(SentBitsTest, NobodyHasSentAnything) {
  SentBits bits;
  EXPECT_EQ(bits.PerElement(16), 16);
  bits.Accept(NodeId(1), {});
  EXPECT_EQ(bits.PerElement(16), 16);
}

TEST(SentBitsTest, TheMeanIsOverWhatAllHaveSent) {
  SentBits bits;
  bits.Accept(NodeId(1), {100, 400});
  EXPECT_DOUBLE_EQ(bits.PerElement(32), 8);
  bits.Accept(NodeId(2), {400, 400});
  EXPECT_DOUBLE_EQ(bits.PerElement(32), 20);
}

TEST(SentBitsTest, WhatIsLongAgoIsForgotten) {
  SentBits bits;
  PrecisionReport::Traffic sent;
  for (int i = 0; i < 50; ++i) {
    sent.sent_bytes += 400;
    sent.full_bytes += 400;
    bits.Accept(NodeId(1), sent);
    bits.Accept(NodeId(1), sent);  // a report without news
  }
  EXPECT_DOUBLE_EQ(bits.PerElement(0), 32);
  for (int i = 0; i < 50; ++i) {
    sent.sent_bytes += 50;
    sent.full_bytes += 400;
    bits.Accept(NodeId(1), sent);
  }
  EXPECT_NEAR(bits.PerElement(0), 4, 0.01);
}

TEST(SentBitsTest, AnotherStartOfANodeCountsFromZero) {
  SentBits bits;
  bits.Accept(NodeId(1), {4000, 4000});
  bits.Accept(NodeId(1), {100, 400});
  EXPECT_DOUBLE_EQ(bits.PerElement(0), 8);
}

}  // namespace
}  // namespace banyan
