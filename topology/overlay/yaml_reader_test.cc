#include "topology/overlay/yaml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/overlay/yaml_slots.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class YamlReaderTest : public ::testing::Test {
 protected:
  YamlReaderTest()
      : document_(
            *YamlDocument::Parse("count: 3\nrate: 2.5\non: true\nwindow: auto\nname: 'n1'\nlist: [1]\n", "o.yaml")),
        map_(document_.root(), "section", problems_) {}

  std::string Problem() const { return std::string(problems_.status().message()); }

  YamlDocument document_;
  YamlProblems problems_{"o.yaml"};
  YamlMapReader map_;
};

TEST_F(YamlReaderTest, ReadsTypedValues) {
  int count = 0;
  double rate = 0;
  bool on = false;
  std::optional<int64_t> window = 7;
  ReadKeys(map_,
           {{"count", Number(count, Count(1, 5))},
            {"rate", Number(rate, Numbers(0, 10))},
            {"on", Bool(on)},
            {"window", Number(window, Count(1, 5, "auto"))}},
           problems_);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(rate, 2.5);
  EXPECT_TRUE(on);
  EXPECT_EQ(window, 7);
  EXPECT_EQ(ReadName(*map_.Require("name"), "name", problems_), "n1");
  EXPECT_NE(map_.Find("list"), nullptr);
  map_.Finish();
  EXPECT_TRUE(problems_.status().ok()) << Problem();
}

TEST_F(YamlReaderTest, AbsentKeysLeaveDefaults) {
  int count = 42;
  ReadKeys(map_, {{"missing", Number(count, Count(1, 5))}}, problems_);
  EXPECT_EQ(count, 42);
  EXPECT_EQ(map_.Find("missing"), nullptr);
  EXPECT_TRUE(problems_.status().ok());
}

TEST_F(YamlReaderTest, TheFirstProblemIsKept) {
  int count = 42;
  ReadKeys(map_, {{"count", Number(count, Count(4, 5))}, {"rate", Number(count, Count(1, 5))}}, problems_);
  EXPECT_EQ(count, 42);
  EXPECT_EQ(Problem(), "o.yaml:1:8: section.count: expected a whole number of at least 4 and at most 5, got '3'");
}

TEST_F(YamlReaderTest, WordsAreNotQuoted) {
  EXPECT_TRUE(IsWord(*map_.Find("window"), "auto"));
  EXPECT_FALSE(IsWord(*map_.Find("name"), "n1"));
}

TEST_F(YamlReaderTest, MarksThatTurnTheDirectionOfWritingAreEscaped) {
  YamlValue value;
  value.kind = YamlValue::Kind::kScalar;
  value.scalar = "\u202en1";
  EXPECT_EQ(Describe(value), "'\\xe2\\x80\\xaen1'");
}

TEST_F(YamlReaderTest, LongValuesAreShortenedInMessages) {
  YamlValue value;
  value.kind = YamlValue::Kind::kScalar;
  value.scalar = std::string(1000, '\x01');
  EXPECT_EQ(Describe(value).size(), 2 + 4 * 40 + 3u);
}

TEST_F(YamlReaderTest, FinishNamesUnknownKeys) {
  map_.Find("cuont");
  map_.Finish();
  EXPECT_THAT(Problem(), HasSubstr("section: unknown key 'count'; did you mean 'cuont'?"));
}

TEST_F(YamlReaderTest, MissingKeysAreProblemsWhenRequired) {
  EXPECT_EQ(map_.Require("nodes"), nullptr);
  EXPECT_EQ(Problem(), "o.yaml:1:1: section.nodes is missing");
}

}  // namespace
}  // namespace banyan
