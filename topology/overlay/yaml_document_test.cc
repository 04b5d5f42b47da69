#include "topology/overlay/yaml_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace banyan {
namespace {

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
  EXPECT_EQ(root.entries[1].line, 2);
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
  EXPECT_EQ(Refusal("a: 1\nb: 2\na: 3\n"), "o.yaml:3: the key 'a' is there twice; keep one");
  EXPECT_THAT(Refusal("x:\n  - {a: 1, a: 1}\n"), StartsWith("o.yaml:2: the key 'a'"));
}

TEST(YamlDocumentTest, RefusesASecondDocument) {
  EXPECT_THAT(Refusal("a: 1\n---\nb: 2\n"), HasSubstr("a second document starts here"));
}

TEST(YamlDocumentTest, RefusesAliasCycles) {
  EXPECT_EQ(Refusal("a: &x [*x]\n"), "o.yaml:1: this alias leads to itself");
  EXPECT_THAT(Refusal("a: &x\n  b: &y\n    c: *x\n"), HasSubstr("this alias leads to itself"));
  EXPECT_THAT(Refusal("&x a: *x\n"), StartsWith("o.yaml:1: "));
}

TEST(YamlDocumentTest, RefusesUnknownAliases) { EXPECT_THAT(Refusal("a: *x\n"), StartsWith("o.yaml:1: ")); }

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
  EXPECT_THAT(Refusal("a: [1, 2\nb: 3\n"), StartsWith("o.yaml:"));
  EXPECT_THAT(Refusal(""), HasSubstr("empty"));
  EXPECT_THAT(Refusal("# only a comment\n"), HasSubstr("empty"));
}

}  // namespace
}  // namespace banyan
