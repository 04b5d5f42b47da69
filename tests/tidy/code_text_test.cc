#include "tests/tidy/code_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan {
namespace {

std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  for (const Word& word : Words(text)) words.push_back(word.text);
  return words;
}

TEST(CodeTextTest, CommentsAreNoCode) {
  EXPECT_EQ(WordsOf("a // std::thread\nb /* c\nd */ e"), (std::vector<std::string>{"a", "b", "e"}));
}

TEST(CodeTextTest, LiteralsAreNoCode) {
  EXPECT_EQ(WordsOf("f(\"std::thread \\\" x\", 'y', '\\'') g"), (std::vector<std::string>{"f", "g"}));
}

TEST(CodeTextTest, RawLiteralsAreNoCode) {
  EXPECT_EQ(WordsOf("R\"x(a \" b)x\" c"), (std::vector<std::string>{"R", "c"}));
}

TEST(CodeTextTest, DigitSeparatorsOpenNoLiteral) {
  EXPECT_EQ(WordsOf("1'000 + std::thread + 2'000"), (std::vector<std::string>{"std::thread"}));
}

TEST(CodeTextTest, UnfinishedTextEnds) {
  EXPECT_EQ(BlankCommentsAndLiterals("/* a"), "    ");
  EXPECT_EQ(BlankCommentsAndLiterals("\"a\\"), "   ");
  EXPECT_EQ(BlankCommentsAndLiterals("R\"a"), "R  ");
}

TEST(CodeTextTest, QualifiedNamesAreOneWordWithALine) {
  std::vector<Word> words = Words("a\nb::c::d");
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[1].text, "b::c::d");
  EXPECT_EQ(words[1].line, 2);
}

TEST(CodeTextTest, IncludesOfBothKinds) {
  std::vector<Include> includes = Includes("#include <a/b>\n\n  # include \"c/d.h\"\n");
  ASSERT_EQ(includes.size(), 2u);
  EXPECT_EQ(includes[0].name, "a/b");
  EXPECT_FALSE(includes[0].quoted);
  EXPECT_EQ(includes[1].name, "c/d.h");
  EXPECT_TRUE(includes[1].quoted);
  EXPECT_EQ(includes[1].line, 3);
}

}  // namespace
}  // namespace banyan
