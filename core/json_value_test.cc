#include "core/json_value.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(JsonValueTest, TakesValues) {
  for (const char* text :
       {"{}", "[]", "null", "-0.5e+3", "{\"a\":1}\n", R"({"a":[1,{"b":"\"\u00e9\\ x"},true,false], "c" : {} })"}) {
    EXPECT_TRUE(JsonValue::Parse(text).ok()) << text << ": " << JsonValue::Parse(text).status();
  }
}

TEST(JsonValueTest, SaysWhatIsWrongAndWhere) {
  for (const char* text : {"", "{", "[1,]", "{,}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "01", "1.", "-", "1e",
                           "\"a", "\"\\x\"", "\"\\u12g4\"", "\"a\nb\"", "{} {}", "[1}", "nul"}) {
    EXPECT_FALSE(JsonValue::Parse(text).ok()) << text;
  }
  EXPECT_EQ(JsonValue::Parse("{\"a\":x}").status().message(), "expected a value at byte 6 of the JSON, got \"x}\"");
  EXPECT_EQ(JsonValue::Parse("{\"a\":1").status().message(),
            "expected a comma or the end of what is open at byte 7 of the JSON, got its end");
  EXPECT_EQ(JsonValue::Parse(absl::string_view("\"\0\"", 3)).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(JsonValueTest, DepthIsBounded) {
  const std::string deepest = std::string(64, '[') + std::string(64, ']');
  EXPECT_TRUE(JsonValue::Parse(deepest).ok());
  const std::string deeper(1 << 20, '[');
  EXPECT_THAT(std::string(JsonValue::Parse(deeper).status().message()), HasSubstr("less deep nesting at byte 65 "));
}

TEST(JsonValueTest, GivesWhatIsThere) {
  const std::string text =
      R"({"a": -7, "b": 2.5e3, "c": [true, false], "d": {"e": "x\n\"\u00e9\ud83d\ude00\ud83d"}, "f": null, "g": [["p", 1]]})";
  const absl::StatusOr<JsonValue> json = JsonValue::Parse(text);
  ASSERT_TRUE(json.ok()) << json.status();
  const JsonValue& value = *json;
  EXPECT_EQ(value["a"].as<int64_t>(), -7);
  EXPECT_EQ(value["a"].as<double>(), -7);
  EXPECT_EQ(value["b"].as<double>(), 2500);
  EXPECT_THAT(value["c"].as<std::vector<bool>>(), ElementsAre(true, false));
  EXPECT_EQ(value["d"]["e"].as<std::string>(), "x\n\"\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
  EXPECT_TRUE(value["f"].IsNull());
  EXPECT_TRUE(static_cast<bool>(value["f"]));
  EXPECT_FALSE(static_cast<bool>(value["h"]["i"]));
  EXPECT_THAT((value["g"].as<std::vector<std::pair<std::string, int64_t>>>()), ElementsAre(Pair("p", 1)));
  EXPECT_EQ(value["d"].text(), R"({"e": "x\n\"\u00e9\ud83d\ude00\ud83d"})");
  EXPECT_EQ(value.begin()->name(), "a");
}

TEST(JsonValueTest, RefusesWhatIsOfAnotherKind) {
  const std::string text = R"({"a": "7", "b": 1.5, "c": -1})";
  const absl::StatusOr<JsonValue> json = JsonValue::Parse(text);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_THROW((*json)["a"].as<int64_t>(), JsonMismatch);
  EXPECT_THROW((*json)["b"].as<int64_t>(), JsonMismatch);
  EXPECT_THROW((*json)["b"].as<std::string>(), JsonMismatch);
  EXPECT_THROW((*json)["c"].as<uint64_t>(), JsonMismatch);
  try {
    (*json)["d"].as<bool>();
    FAIL();
  } catch (const JsonMismatch& mismatch) {
    EXPECT_STREQ(mismatch.what(), "expected true or false, got nothing");
  }
}

}  // namespace
}  // namespace banyan
