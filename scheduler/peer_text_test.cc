#include "scheduler/peer_text.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(PeerTextTest, KnowsPrintableText) {
  EXPECT_TRUE(IsPrintable(""));
  EXPECT_TRUE(IsPrintable("fc1.weight é 漢 🌳"));
  EXPECT_FALSE(IsPrintable("a\nb"));
  EXPECT_FALSE(IsPrintable("\x7f"));
  EXPECT_FALSE(IsPrintable(std::string("a\0b", 3)));
}

TEST(PeerTextTest, RefusesWhatIsNoUtf8) {
  for (const std::string bad : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                                "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe6\xbc", "\xff"}) {
    EXPECT_FALSE(IsPrintable(bad));
  }
}

TEST(PeerTextTest, RefusesWhatActsOnATerminal) {
  for (const std::string bad : {"\u202e", "\u202a", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c", "\u009b"}) {
    EXPECT_FALSE(IsPrintable(bad));
  }
  EXPECT_TRUE(IsPrintable("\u00a0\u2030\u2070\u0620"));
}

TEST(PeerTextTest, ReplacesAndCuts) {
  EXPECT_EQ(PrintableText("a\nb\xff", 10), "a?b?");
  EXPECT_EQ(PrintableText("abcdef", 3), "abc...");
  EXPECT_EQ(PrintableText("abé", 3), "ab...");
  EXPECT_TRUE(IsPrintable(PrintableText("\xe6\xbc\xa2\xe6\xbc", 4)));
}

}  // namespace
}  // namespace banyan
