#include "tools/view/json_scan.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScanJsonTest, TakesValues) {
  for (const char* text : {"{}", "[]", "null", "-0.5e+3", R"({"a":[1,{"b":"\"\u00e9\\ x"},true,false], "c" : {} })"}) {
    EXPECT_TRUE(ScanJson(text).ok()) << text << ": " << ScanJson(text);
  }
}

TEST(ScanJsonTest, SaysWhatIsWrongAndWhere) {
  for (const char* text : {"", "{", "[1,]", "{,}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "01", "1.", "-", "1e",
                           "\"a", "\"\\x\"", "\"\\u12g4\"", "\"a\nb\"", "{} {}", "[1}", "nul", "{\"a\":1}\n"}) {
    EXPECT_FALSE(ScanJson(text).ok()) << text;
  }
  EXPECT_EQ(ScanJson("{\"a\":x}").message(), "expected a value at byte 6 of the JSON, got \"x}\"");
  EXPECT_EQ(ScanJson("{\"a\":1").message(),
            "expected a comma or the end of what is open at byte 7 of the JSON, got its end");
  EXPECT_EQ(ScanJson(absl::string_view("\"\0\"", 3)).code(), absl::StatusCode::kInvalidArgument);
}

TEST(ScanJsonTest, DepthIsBounded) {
  EXPECT_TRUE(ScanJson(std::string(64, '[') + std::string(64, ']')).ok());
  EXPECT_THAT(std::string(ScanJson(std::string(1 << 20, '[')).message()), HasSubstr("less deep nesting at byte 65 "));
}

TEST(ScanJsonTest, TellsNumbersWithTheirNames) {
  std::vector<std::string> told;
  const std::string text = R"({"mbps":1.5,"memory":{"sums":7},"place":[52,13],"s":"8"})";
  ASSERT_TRUE(ScanJson(text, [&told](absl::string_view around, absl::string_view name, absl::string_view number) {
                told.push_back(absl::StrCat(around, "/", name, "=", number));
              }).ok());
  EXPECT_THAT(told, ElementsAre("/mbps=1.5", "memory/sums=7", "/place=52", "/place=13"));
}

}  // namespace
}  // namespace banyan
