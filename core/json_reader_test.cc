#include "core/json_reader.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/json_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

std::string Refusal(absl::string_view text) {
  const absl::StatusOr<nlohmann::json> json = ParseJson(text);
  EXPECT_EQ(json.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(json.status().message());
}

TEST(JsonReaderTest, TakesValues) {
  for (const char* text :
       {"{}", "[]", "null", "-0.5e+3", "{\"a\":1}\n", R"({"a":[1,{"b":"\"\u00e9\\ x"},true,false], "c" : {} })"}) {
    EXPECT_TRUE(ParseJson(text).ok()) << text << ": " << ParseJson(text).status();
  }
  EXPECT_EQ((*ParseJson(R"({"a":18446744073709551615})"))["a"].get<uint64_t>(), UINT64_MAX);
}

// Of texts of others, which may hold any byte.
TEST(JsonReaderTest, ReadsWhatTheWriterWrites) {
  constexpr char kReplacement[] = "\xef\xbf\xbd";
  const auto read = [](absl::string_view text) {
    const absl::StatusOr<nlohmann::json> json = ParseJson(JsonWriter().String(std::string(text)).text());
    return json.ok() ? json->get<std::string>() : std::string(json.status().message());
  };
  for (const char* text : {"", "\"\\\n\x7f", "\u00e9", "\u20ac \ufffd", "\U0001f333", "\u202e"})
    EXPECT_EQ(read(text), text);
  for (int byte = 0x80; byte <= 0xff; ++byte) {
    const std::string alone(1, static_cast<char>(byte));
    EXPECT_EQ(read("a" + alone), absl::StrCat("a", kReplacement)) << byte;
    EXPECT_EQ(read(alone + "\""), absl::StrCat(kReplacement, "\"")) << byte;
  }
  // Longer than needed, half a pair of UTF-16, beyond the last character, and cut short.
  for (const char* text : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    const std::string got = read(text);
    EXPECT_EQ(got.size(), 3 * std::string(text).size()) << got;
    EXPECT_THAT(got, HasSubstr(kReplacement));
  }
}

TEST(JsonReaderTest, SaysWhatIsWrongAndWhere) {
  for (const char* text : {"", "{", "[1,]", "{,}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "01", "1.", "-", "1e",
                           "1e999", "\"a", "\"\\x\"", "\"\\u12g4\"", "\"a\nb\"", "{} {}", "[1}", "nul"}) {
    EXPECT_THAT(Refusal(text), HasSubstr("expected JSON, got text with a ")) << text;
  }
  EXPECT_THAT(Refusal("{\"a\":1"), HasSubstr("got text with a parse error at line 1, column 7: "));
  Refusal(absl::string_view("\"\0\"", 3));
}

TEST(JsonReaderTest, DepthIsBounded) {
  EXPECT_TRUE(ParseJson(std::string(64, '[') + std::string(64, ']')).ok());
  EXPECT_THAT(Refusal(std::string(1 << 20, '[')), HasSubstr("nested more than 64 deep"));
}

}  // namespace
}  // namespace banyan
