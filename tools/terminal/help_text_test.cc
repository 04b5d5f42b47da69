#include "tools/terminal/help_text.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

TEST(HelpTextTest, WrapsBetweenWords) {
  EXPECT_EQ(Wrap("a  b\nc", 0, 2), "a b c");
  const std::string word(30, 'x');
  EXPECT_EQ(Wrap(word + " " + word + " " + word, 10, 4), word + " " + word + "\n    " + word);
  EXPECT_EQ(Wrap(std::string(200, 'x'), 0, 2), std::string(200, 'x'));
  EXPECT_EQ(Wrap("", 0, 2), "");
}

TEST(HelpTextTest, LongNamesHaveALineOfTheirOwn) {
  EXPECT_EQ(HelpTable({{"--a N", "one"}, {"--a-name-that-is-far-too-long", "two"}}),
            "  --a N  one\n  --a-name-that-is-far-too-long\n         two\n");
}

TEST(HelpTextTest, ExamplesGoOnBeforeAFlag) {
  EXPECT_EQ(WrapExample("banyan a --b c", 9), "banyan a --b c");
  const std::string value(40, 'v');
  EXPECT_EQ(WrapExample("banyan a --b " + value + " --c '" + value + "'", 9),
            "banyan a --b " + value + " \\\n    --c '" + value + "'");
}

}  // namespace
}  // namespace banyan
