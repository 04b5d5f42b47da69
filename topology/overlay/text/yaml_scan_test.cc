#include <gtest/gtest.h>

#include "topology/overlay/text/yaml_text.h"

namespace banyan {
namespace {

TEST(YamlScanTest, FindsNothingInGoodTexts) {
  for (const char* text : {"", "a: [b, {c: 'd'}]  # ]\n", "- - a\n  - \"]\"\n", "a: &x [1]\nb: *x\n",
                           "a: >-\n  ] \"\nb: c\n", "a: {b: c,\n    d: e}\nf: [\n  g\n]\n", "a: \"\\\"\"\n"}) {
    const YamlScanResult result = ScanYaml(text);
    EXPECT_FALSE(result.wrong.has_value()) << text << result.wrong->what;
    EXPECT_FALSE(result.suspect.has_value()) << text << result.suspect->what;
  }
}

TEST(YamlScanTest, ColumnsCountCharacters) {
  const YamlScanResult result = ScanYaml("# \xc3\xbc\n\"\xc3\xbc\": '\n");
  ASSERT_TRUE(result.wrong.has_value());
  EXPECT_EQ(result.wrong->place.line, 2);
  EXPECT_EQ(result.wrong->place.column, 6);
}

TEST(YamlScanTest, SuspectsTheFirstBracket) {
  const YamlScanResult result = ScanYaml("a: [b\nc: {d\n");
  EXPECT_FALSE(result.wrong.has_value());
  ASSERT_TRUE(result.suspect.has_value());
  EXPECT_EQ(result.suspect->place.line, 1);
  EXPECT_EQ(result.suspect->place.column, 4);
}

}  // namespace
}  // namespace banyan
