#include "bench/result_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace banyan {

ResultTable::Cell ResultTable::Cell::Number(std::optional<double> value, int digits) {
  return value.has_value() ? Cell{absl::StrFormat("%.*f", digits, *value), *value} : Cell{"-", nullptr};
}

ResultTable::Cell ResultTable::Cell::Number(double value) { return {absl::StrCat(value), value}; }

std::string ResultTable::AsText() const {
  std::vector<std::string> lines(rows.size() + 2, "|");  // titles, rules, rows
  for (size_t column = 0; column < columns.size(); ++column) {
    if (columns[column].title.empty()) continue;
    size_t width = columns[column].title.size();
    bool is_number = false;
    for (const std::vector<Cell>& row : rows) {
      width = std::max(width, row[column].text.size());
      is_number = is_number || std::holds_alternative<double>(row[column].value);
    }
    const auto append = [&](std::string& line, const std::string& text) {
      const std::string gap(width - text.size(), ' ');
      absl::StrAppend(&line, " ", is_number ? gap : "", text, is_number ? "" : gap, " |");
    };
    append(lines[0], columns[column].title);
    absl::StrAppend(&lines[1], std::string(width + (is_number ? 1 : 2), '-'), is_number ? ":|" : "|");
    for (size_t i = 0; i < rows.size(); ++i) append(lines[i + 2], rows[i][column].text);
  }
  return absl::StrCat(title, title.empty() ? "" : "\n\n", absl::StrJoin(lines, "\n"), "\n");
}

void ResultTable::WriteTo(JsonWriter& json) const {
  json.BeginArray();
  for (const std::vector<Cell>& row : rows) {
    json.BeginObject();
    for (size_t column = 0; column < columns.size(); ++column) {
      const auto& value = row[column].value;
      if (std::holds_alternative<std::monostate>(value)) continue;
      json.Name(columns[column].key.empty() ? columns[column].title : columns[column].key);
      if (const auto* flag = std::get_if<bool>(&value)) {
        json.Boolean(*flag);
      } else if (const auto* number = std::get_if<double>(&value)) {
        json.Number(*number);
      } else if (const auto* text = std::get_if<std::string>(&value)) {
        json.String(*text);
      } else {
        json.Null();
      }
    }
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace banyan
