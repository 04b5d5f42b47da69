#include "core/printable.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(PrintableTest, KeepsWhatCanBeRead) {
  for (const char* text : {"n1 {} \"%s\"", "K\xc3\xb6ln", "\xe6\x9d\xb1\xe4\xba\xac", "\xf0\x9f\x8c\xb3"}) {
    EXPECT_EQ(EscapeUnprintable(text), text);
  }
}

TEST(PrintableTest, EscapesWhatActsOnATerminal) {
  EXPECT_EQ(EscapeUnprintable("a\nb\x1b[2J\x7f"), "a\\x0ab\\x1b[2J\\x7f");
  EXPECT_EQ(EscapeUnprintable("\xc2\x9b"
                              "2J"),
            "\\xc2\\x9b2J")
      << "a control sequence of one character";
  EXPECT_EQ(EscapeUnprintable("n\xe2\x80\xae"
                              "1"),
            "n\\xe2\\x80\\xae1")
      << "right to left from here on";
  EXPECT_EQ(EscapeUnprintable("\xe2\x81\xa6\xd8\x9c"), "\\xe2\\x81\\xa6\\xd8\\x9c");
}

TEST(PrintableTest, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(EscapeUnprintable("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(EscapeUnprintable("\xc0\xaf"), "\\xc0\\xaf") << "a longer form of a shorter one";
  EXPECT_EQ(EscapeUnprintable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(EscapeUnprintable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a pair of UTF-16";
  EXPECT_EQ(EscapeUnprintable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

}  // namespace
}  // namespace banyan
