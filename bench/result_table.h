// A table of results, as text for people and as JSON for programs: what benchmarks print. Value.
#ifndef BANYAN_BENCH_RESULT_TABLE_H_
#define BANYAN_BENCH_RESULT_TABLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/json_writer.h"

namespace banyan {

struct ResultTable {
  struct Column {
    std::string title;     // for people; empty: in JSON alone
    std::string key = "";  // in JSON, where it is not the title
  };
  struct Cell {
    std::string text;
    std::variant<std::monostate, std::nullptr_t, bool, double, std::string> value = {};  // in JSON; first: not there

    static Cell Text(const std::string& text) { return {text, text}; }
    // With so many digits behind the point as text; "-" and null without a value.
    static Cell Number(std::optional<double> value, int digits);
    // With as many digits as it needs.
    static Cell Number(double value);
    static Cell Flag(bool value, std::string text) { return {std::move(text), value}; }
  };

  std::string name;   // in JSON
  std::string title;  // for people; may be empty
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // as many cells as there are columns

  // Returns lines whose columns lie below each other, numbers at the right, as Markdown has tables.
  std::string AsText() const;
  // Writes an array with an object for each row.
  void WriteTo(JsonWriter& json) const;
};

}  // namespace banyan

#endif  // BANYAN_BENCH_RESULT_TABLE_H_
