// A table of results, as text for people and as JSON for programs. Value.
#ifndef BANYAN_BENCH_REPLAY_TABLE_H_
#define BANYAN_BENCH_REPLAY_TABLE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json_writer.h"

namespace banyan {

struct ReplayTable {
  struct Cell {
    std::string text;
    std::optional<double> number;  // in JSON it stands instead of the text

    static Cell Text(std::string text) { return {std::move(text), std::nullopt}; }
    // With so many digits behind the point as text.
    static Cell Number(double value, int digits);
    // With as many digits as it needs.
    static Cell Number(double value);
  };

  std::string name;   // in JSON
  std::string title;  // for people
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  // as many cells as there are columns

  // Returns lines whose columns lie below each other, as Markdown has tables.
  std::string AsText() const;
  // Writes an array with an object for each row.
  void WriteTo(JsonWriter& json) const;
};

}  // namespace banyan

#endif  // BANYAN_BENCH_REPLAY_TABLE_H_
