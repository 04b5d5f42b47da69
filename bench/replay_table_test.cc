#include "bench/replay_table.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

ReplayTable Sample() {
  ReplayTable table;
  table.name = "times";
  table.title = "Times:";
  using Cell = ReplayTable::Cell;
  table.columns = {"model", "rate", "ms"};
  table.rows = {{Cell::Text("ResNet"), Cell::Number(0.1), Cell::Number(2.0 / 3, 2)},
                {Cell::Text("BERT"), Cell::Number(10), Cell::Number(1234.5, 2)}};
  return table;
}

TEST(ReplayTableTest, AlignsColumns) {
  EXPECT_EQ(Sample().AsText(),
            "Times:\n\n"
            "| model  | rate | ms      |\n"
            "|--------|------|---------|\n"
            "| ResNet | 0.1  | 0.67    |\n"
            "| BERT   | 10   | 1234.50 |\n");
}

TEST(ReplayTableTest, GivesProgramsTheNumbers) {
  JsonWriter json;
  Sample().WriteTo(json);
  EXPECT_EQ(json.text(), R"([{"model":"ResNet","rate":0.1,"ms":0.6666666667},{"model":"BERT","rate":10,"ms":1234.5}])");
}

}  // namespace
}  // namespace banyan
