#include "topology/overlay/text/yaml_text.h"

#include <gtest/gtest.h>

#include <string>

namespace banyan {
namespace {

TEST(YamlTextTest, LineEndsBecomePlain) {
  EXPECT_EQ(*PlainYamlText("a\r\nb\rc\n\r\n", "f"), "a\nb\nc\n\n");
  EXPECT_EQ(*PlainYamlText("\xef\xbb\xbf", "f"), "");
}

TEST(YamlTextTest, RefusalsNameThePlace) {
  EXPECT_EQ(PlainYamlText("a\n\xc3\xbc\xff", "f").status().message(),
            "f:2:2: the byte 0xff is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(PlainYamlText("a\x7f", "f").status().message(), "f:1:2: the control character U+007F; delete it");
}

TEST(YamlTextTest, ColumnsAreOfCharacters) {
  CharacterColumns columns("ab\n\xc3\xbc\xe5\x8c\x97x: y\nz");
  const auto column = [&columns](int line, int byte) {
    const FilePlace place = columns.Of(line, byte);
    EXPECT_EQ(place.line, line);
    return place.column;
  };
  EXPECT_EQ(column(1, 2), 2);
  EXPECT_EQ(column(2, 1), 1);
  EXPECT_EQ(column(2, 3), 2);
  EXPECT_EQ(column(2, 6), 3);
  EXPECT_EQ(column(2, 5), 2) << "in the middle of a character";
  EXPECT_EQ(column(2, 99), 7) << "the end of the line";
  EXPECT_EQ(column(3, 1), 1);
  EXPECT_EQ(column(2, 6), 3) << "asked for again";
  EXPECT_EQ(column(3, 9), 2);
}

TEST(YamlTextTest, Utf8) {
  EXPECT_EQ(Utf8Length("a"), 1u);
  EXPECT_EQ(Utf8Length("\xc3\xbc"), 2u);
  EXPECT_EQ(Utf8Length("\xe5\x8c\x97x"), 3u);
  EXPECT_EQ(Utf8Length("\xf0\x9f\x8c\xb3"), 4u);
  for (const char* bad : {"", "\x80", "\xc3", "\xc3x", "\xe5\x8c", "\xff", "\xc0\x80"}) EXPECT_EQ(Utf8Length(bad), 0u);
  EXPECT_EQ(CodePoint("\xe5\x8c\x97", 3), U'\u5317');
  EXPECT_EQ(CodePointName(0xa0), "U+00A0");
}

}  // namespace
}  // namespace banyan
