#include "bench/result_table.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

ResultTable Sample() {
  ResultTable table;
  table.name = "times";
  table.title = "Times:";
  using Cell = ResultTable::Cell;
  table.columns = {{"model"}, {"rate"}, {"ms", "time_ms"}, {"sum", "is_right"}, {"note"}, {"", "why"}};
  table.rows = {
      {Cell::Text("ResNet"), Cell::Number(0.1), Cell::Number(2.0 / 3, 2), Cell::Flag(true, "right"), {"-3 %"}, {}},
      {Cell::Text("BERT"),
       Cell::Number(10),
       Cell::Number(1234.5, 2),
       Cell::Flag(false, "WRONG"),
       {},
       Cell::Text("lost")},
      {Cell::Text("GPT"), Cell::Number(2), Cell::Number(std::nullopt, 2), Cell::Flag(true, "right"), {}, {}}};
  return table;
}

TEST(ResultTableTest, AlignsColumns) {
  EXPECT_EQ(Sample().AsText(),
            "Times:\n\n"
            "| model  | rate |      ms | sum   | note |\n"
            "|--------|-----:|--------:|-------|------|\n"
            "| ResNet |  0.1 |    0.67 | right | -3 % |\n"
            "| BERT   |   10 | 1234.50 | WRONG |      |\n"
            "| GPT    |    2 |       - | right |      |\n");
}

TEST(ResultTableTest, GivesProgramsTheNumbers) {
  JsonWriter json;
  Sample().WriteTo(json);
  EXPECT_EQ(json.text(), R"([{"model":"ResNet","rate":0.1,"time_ms":0.6666666667,"is_right":true},)"
                         R"({"model":"BERT","rate":10,"time_ms":1234.5,"is_right":false,"why":"lost"},)"
                         R"({"model":"GPT","rate":2,"time_ms":null,"is_right":true}])");
}

}  // namespace
}  // namespace banyan
