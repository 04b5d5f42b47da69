#include "core/json_writer.h"

#include <cmath>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(JsonWriterTest, PutsCommasWhereTheyBelong) {
  JsonWriter json;
  json.BeginObject().Name("a").Integer(1).Name("b").BeginArray().Number(0.5).Null().BeginObject().EndObject();
  json.BeginArray().EndArray().EndArray().Name("c").String("x").EndObject();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[0.5,null,{},[]],"c":"x"})");
}

TEST(JsonWriterTest, EscapesText) {
  JsonWriter json;
  json.String("a\"b\\c\n\x01é");
  EXPECT_EQ(json.text(), R"("a\"b\\c\u000a\u0001é")");
}

TEST(JsonWriterTest, WritesNullForWhatJsonCannotSay) {
  JsonWriter json;
  json.BeginArray().Number(INFINITY).Number(NAN).Number(-1e30).EndArray();
  EXPECT_EQ(json.text(), "[null,null,-1e+30]");
}

}  // namespace
}  // namespace banyan
