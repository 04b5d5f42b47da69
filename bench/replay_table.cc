#include "bench/replay_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace banyan {

ReplayTable::Cell ReplayTable::Cell::Number(double value, int digits) {
  return {absl::StrFormat("%.*f", digits, value), value};
}

ReplayTable::Cell ReplayTable::Cell::Number(double value) { return {absl::StrCat(value), value}; }

std::string ReplayTable::AsText() const {
  std::vector<size_t> widths;
  for (size_t column = 0; column < columns.size(); ++column) {
    widths.push_back(columns[column].size());
    for (const std::vector<Cell>& row : rows) widths[column] = std::max(widths[column], row[column].text.size());
  }
  const auto line = [&widths](const auto& text_of) {
    std::string text = "|";
    for (size_t column = 0; column < widths.size(); ++column) {
      absl::StrAppendFormat(&text, " %-*s |", widths[column], text_of(column));
    }
    return text + "\n";
  };
  std::string text = absl::StrCat(title, "\n\n");
  absl::StrAppend(&text, line([this](size_t column) { return columns[column]; }), "|");
  for (const size_t width : widths) absl::StrAppend(&text, std::string(width + 2, '-'), "|");
  absl::StrAppend(&text, "\n");
  for (const std::vector<Cell>& row : rows) {
    absl::StrAppend(&text, line([&row](size_t column) { return row[column].text; }));
  }
  return text;
}

void ReplayTable::WriteTo(JsonWriter& json) const {
  json.BeginArray();
  for (const std::vector<Cell>& row : rows) {
    json.BeginObject();
    for (size_t column = 0; column < columns.size(); ++column) {
      json.Name(columns[column]);
      if (row[column].number.has_value()) {
        json.Number(*row[column].number);
      } else {
        json.String(row[column].text);
      }
    }
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace banyan
