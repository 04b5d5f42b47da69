#include "topology/overlay/yaml_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Refusal(absl::string_view text) {
  return std::string(YamlDocument::Parse(text, "o.yaml").status().message());
}

TEST(YamlDocumentTest, BuildsATreeWithLines) {
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse("a: 1\nb: [x, 'y', ~]\nc: {d: }\n", "o.yaml");
  ASSERT_TRUE(document.ok()) << document.status();
  const YamlValue& root = document->root();
  ASSERT_EQ(root.entries.size(), 3u);
  EXPECT_EQ(root.entries[1].key, "b");
  EXPECT_EQ(root.entries[1].place.line, 2);
  const YamlValue& list = *root.entries[1].value;
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_FALSE(list.items[0]->quoted);
  EXPECT_TRUE(list.items[1]->quoted);
  EXPECT_EQ(list.items[2]->kind, YamlValue::Kind::kNull);
  EXPECT_EQ(root.entries[2].value->entries[0].value->kind, YamlValue::Kind::kNull);
}

TEST(YamlDocumentTest, FollowsAliases) {
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse("a: &x {b: 1}\nc: *x\n", "o.yaml");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->root().entries[1].value, document->root().entries[0].value);
}

TEST(YamlDocumentTest, RefusesDuplicateKeys) {
  EXPECT_EQ(Refusal("a: 1\nb: 2\na: 3\n"), "o.yaml:3:1: the key 'a' is given twice; keep one");
  EXPECT_THAT(Refusal("x:\n  - {a: 1, a: 1}\n"), StartsWith("o.yaml:2:12: the key 'a'"));
}

TEST(YamlDocumentTest, RefusesASecondDocument) {
  EXPECT_THAT(Refusal("a: 1\n---\nb: 2\n"), HasSubstr("a second document starts here"));
}

TEST(YamlDocumentTest, RefusesAliasCycles) {
  EXPECT_EQ(Refusal("a: &x [*x]\n"), "o.yaml:1:8: this alias leads to itself");
  EXPECT_THAT(Refusal("a: &x\n  b: &y\n    c: *x\n"), HasSubstr("this alias leads to itself"));
  EXPECT_THAT(Refusal("&x a: *x\n"), StartsWith("o.yaml:1:"));
}

TEST(YamlDocumentTest, RefusesUnknownAliases) { EXPECT_THAT(Refusal("a: *x\n"), StartsWith("o.yaml:1:")); }

TEST(YamlDocumentTest, RefusesAliasBombs) {
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 1; j < 10; ++j) bomb += ", " + last;
    bomb += "]\n";
  }
  EXPECT_THAT(Refusal(bomb), HasSubstr("are aliases nested?"));
}

TEST(YamlDocumentTest, RefusesDeepNesting) {
  EXPECT_THAT(Refusal("a: " + std::string(40, '[') + std::string(40, ']')), HasSubstr("nested too deeply"));
  EXPECT_FALSE(Refusal("a: " + std::string(100000, '[')).empty());
}

TEST(YamlDocumentTest, RefusesTagsAndOddKeys) {
  EXPECT_THAT(Refusal("a: !!str 1\n"), HasSubstr("tags such as"));
  EXPECT_THAT(Refusal("[a]: 1\n"), HasSubstr("a key must be a plain word"));
  EXPECT_THAT(Refusal("~: 1\n"), HasSubstr("a key must be a plain word"));
}

TEST(YamlDocumentTest, RefusesWhatIsNoYaml) {
  EXPECT_THAT(Refusal("a: [1, 2\nb: 3\n"), StartsWith("o.yaml:1:4: this '[' is not closed before line 2"));
  EXPECT_THAT(Refusal(""), HasSubstr("empty"));
  EXPECT_THAT(Refusal("# only a comment\n"), HasSubstr("empty"));
}

// Mistakes as people make them, with the whole text that they get.
TEST(YamlDocumentTest, SaysWhatIsWrongInItsOwnWords) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"a:\n  - b\n\t- c\n", "3:1: a tab indents this line; YAML wants spaces"},
      {"a:\n  - b\n\xc2\xa0 - c\n", "3:1: a no-break space (U+00A0); put an ordinary space here"},
      {"a:\xc2\xa0"
       "b\n",
       "1:3: a no-break space (U+00A0); put an ordinary space here"},
      {"a: b\xe2\x80\x8b\n", "1:5: an invisible character (U+200B); delete it"},
      {"a\xef\xbc\x9a b\n", "1:2: a wide colon (U+FF1A); put ': ' here"},
      {"a: \xe2\x80\x9c"
       "b\xe2\x80\x9d\n",
       "1:4: a typographic quote (U+201C); use ' or \""},
      {"a:\n  \xe2\x80\x93 b\n", "2:3: a dash that is no hyphen (U+2013); put '-' here"},
      {"a: \"b\nc: d\n", "1:4: the quote that opens here is never closed"},
      {"a: \"b\nc: \"d\"\n", "1:4: the quote that opens here is not closed in its line"},
      {"a: 'b\nc: {d: 'e', f: g}\n", "1:4: the quote that opens here is not closed in its line"},
      {"a: 'it's'\n", "1:8: text right after the closing '; inside of single quotes write '' for one"},
      {"a: [{b: c}, {b: d}\ne: []\n", "1:4: this '[' is not closed before line 2"},
      {"a:\n  - {b: c\n  - {b: d}\n", "2:5: this '{' is not closed before line 3"},
      {"a: [b]]\n", "1:7: this ']' closes nothing; delete it"},
      {"a: [{b: c}}, d]\n", "1:11: expected ']' for the '[' in line 1, column 4, got '}'"},
      {"a: [{b: c} {b: d}]\n", "1:12: a ',' or a closing bracket is missing before this '{'"},
      {"a: {b: tcp://[::1]:7700}\n", "1:14: '[' in the middle of a word; put quotes around an IPv6 address"},
      {"a: [::1]:7700\n", "1:9: text right after a closing bracket; put quotes around an IPv6 address"},
      {"b: {<<: c}\n", "1:5: merge keys ('<<') are not used here; write the keys out"},
      {"\xc3\xa4\xc3\xb6: @b\n", "1:5: a word must not start with '@'; put quotes around it"},
      {"'\xe5\x8c\x97': {b: c, <<: c}\n", "1:13: merge keys"},
      {"a: @b\n", "1:4: a word must not start with '@'; put quotes around it"},
      {"a: *.weight\n", "1:4: a word must not start with '&' or '*'"},
      {"a: \"C:\\data\"\n", "1:9: this \\ means nothing within double quotes"},
      {"a: b: c\n", "1:5: a second ':' in one line"},
      {"a: b\n  c: {d: e, f: g}\n", "2:4: this line fits none of those above"},
      {"a = b\nc: d\n", "a map's entry reads 'key: value', with a ':' and no '='"},
      {"a: ({b: c}, d)\n", "1:7: a list stands in [ ], a map in { }"},
      {"{\"a\": [1] // b\n}\n", "1:11: a comment begins with '#'"},
      {"job:x\na: b\n", "a ':' needs a space after it: 'job: x'"},
      {"a:\n  -{b: c}\n", "2:3: a list's '-' needs a space after it"},
      {"a:\n  - b: c\n d: e\n", "3:2: this line fits none of those above"},
      {"<<<<<<< HEAD\na: b\n", "1:1: a mark of a merge conflict"},
      {std::string("a: b\0c\n", 7), "1:5: a zero byte"},
      {"\xff\xfe"
       "a",
       "1:1: the file is UTF-16 or UTF-32; save it as UTF-8"},
      {"a: m\xfcnchen\n", "1:5: the byte 0xfc is not UTF-8"},
      {"a: b\x1b[0m\n", "1:5: the control character U+001B; delete it"}};
  for (const auto& [text, what] : mistakes) EXPECT_THAT(Refusal(text), AllOf(StartsWith("o.yaml:"), HasSubstr(what)));
}

TEST(YamlDocumentTest, TakesLineEndsAndMarksOfAllSystems) {
  for (const char* text : {"a: 1\r\nb: 2\r\n", "a: 1\rb: 2",
                           "\xef\xbb\xbf"
                           "a: 1\nb: 2\n"}) {
    const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, "o.yaml");
    ASSERT_TRUE(document.ok()) << document.status();
    EXPECT_EQ(document->root().entries.at(1).value->scalar, "2");
  }
}

TEST(YamlDocumentTest, OddCharactersMayStandInQuotesAndComments) {
  for (const char* text : {"a: '\xc2\xa0'\n", "a: b  # \xe2\x80\x9c[{\n", "a: \"'[{\\\" \"\n", "a: 'it''s'\n",
                           "a: b[1]\n", "a: |\n  \"[{\nb: c\n", "a: {b: \"[::1]:1\"}\n", "a: b\t# c\n",
                           "a: tcp://[::1]:7700\n", "a: 'two\n\tlines'\n", "{\n\"a\":[\"b\"]\n}\n", "a: don't\n"}) {
    EXPECT_TRUE(YamlDocument::Parse(text, "o.yaml").ok()) << text << YamlDocument::Parse(text, "o.yaml").status();
  }
}

}  // namespace
}  // namespace banyan
