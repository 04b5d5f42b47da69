#include "topology/overlay/measured_links.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {
namespace {

enum class Column { kFrom, kTo, kMbps, kRoundTripMs, kDelayMs };

// What the overlay's format takes; milliseconds are halved at most.
constexpr double kLeastMbps = 1e-6;
constexpr double kMostMbps = 1e9;
constexpr double kMostMs = 600 * 1000;

struct Way {
  double mbps = 0;
  std::optional<double> delay_ms;
};

// By name of the sender and of the receiver.
using Ways = std::map<std::pair<std::string, std::string>, Way>;

std::vector<std::string> CellsOf(absl::string_view line) {
  line = line.substr(0, line.find('#'));
  const bool has_marks = line.find_first_of(",;\t") != absl::string_view::npos;
  std::vector<std::string> cells;
  for (absl::string_view cell : absl::StrSplit(line, absl::ByAnyChar(has_marks ? ",;\t" : " "))) {
    cell = absl::StripAsciiWhitespace(cell);
    absl::ConsumePrefix(&cell, "\"");
    absl::ConsumeSuffix(&cell, "\"");
    if (has_marks || !cell.empty()) cells.emplace_back(cell);
  }
  const bool is_empty = std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell.empty(); });
  return is_empty ? std::vector<std::string>() : cells;
}

// What headers may name, in lower case.
constexpr std::pair<absl::string_view, Column> kColumnNames[] = {
    {"from", Column::kFrom},       {"to", Column::kTo},           {"mbps", Column::kMbps},
    {"mbit/s", Column::kMbps},     {"ms", Column::kRoundTripMs},  {"rtt_ms", Column::kRoundTripMs},
    {"rtt", Column::kRoundTripMs}, {"delay_ms", Column::kDelayMs}};

// Returns what the header's cell names; nothing for an unknown word.
std::optional<Column> ColumnNamed(absl::string_view cell) {
  const std::string word = absl::AsciiStrToLower(cell);
  const auto* const found = std::find_if(std::begin(kColumnNames), std::end(kColumnNames),
                                         [&word](const auto& named) { return named.first == word; });
  return found == std::end(kColumnNames) ? std::nullopt : std::optional(found->second);
}

class Table {
 public:
  explicit Table(absl::string_view file_name) : file_name_(file_name) {}

  absl::Status Read(absl::string_view text) {
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++line_;
      const std::vector<std::string> cells = CellsOf(line);
      if (cells.empty()) continue;
      const bool is_header = nodes_.empty() && ColumnNamed(cells[0]).has_value() && cells.size() > 2 &&
                             std::all_of(cells.begin(), cells.end(),
                                         [](const std::string& cell) { return ColumnNamed(cell).has_value(); });
      if (absl::Status status = is_header ? ReadHeader(cells) : ReadRow(cells); !status.ok()) return status;
    }
    if (ways_.empty()) return Fault("expected a row for each link: from, to, Mbit/s, ms; there is none");
    return absl::OkStatus();
  }

  const std::vector<std::string>& nodes() const { return nodes_; }
  const Ways& ways() const { return ways_; }

 private:
  absl::Status Fault(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_name_, ":", line_, ": ", what));
  }

  absl::Status ReadHeader(const std::vector<std::string>& cells) {
    columns_.clear();
    for (const std::string& cell : cells) columns_.push_back(*ColumnNamed(cell));
    for (const Column needed : {Column::kFrom, Column::kTo, Column::kMbps}) {
      if (std::count(columns_.begin(), columns_.end(), needed) != 1) {
        return Fault("expected a header with from, to and mbps, each once");
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<double> Number(absl::string_view cell, absl::string_view what, double least, double most) const {
    double number = 0;
    if (absl::SimpleAtod(cell, &number) && number >= least && number <= most) return number;
    return Fault(absl::StrCat("expected ", what, ", got '", cell, "'"));
  }

  absl::Status ReadRow(const std::vector<std::string>& cells) {
    const bool lacks_delay = cells.size() + 1 == columns_.size() && columns_.back() == Column::kRoundTripMs;
    if (cells.size() != columns_.size() && !lacks_delay) {
      return Fault(absl::StrCat("expected ", columns_.size(), " columns, got ", cells.size(),
                                "; from, to, Mbit/s and milliseconds, or as a header says"));
    }
    std::string from, to;
    Way way;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (absl::Status status = ReadCell(columns_[i], cells[i], from, to, way); !status.ok()) return status;
    }
    if (from.empty() || to.empty()) return Fault("expected the names of two nodes");
    for (const std::string& name : {from, to}) {
      if (!IsName(name)) return Fault(absl::StrCat("expected ", kNameRule, ", got '", name, "'"));
    }
    // A matrix has these.
    if (from == to) return absl::OkStatus();
    for (const std::string& name : {from, to}) {
      if (std::find(nodes_.begin(), nodes_.end(), name) == nodes_.end()) nodes_.push_back(name);
    }
    if (ways_.emplace(std::pair(from, to), way).second) return absl::OkStatus();
    return Fault(absl::StrCat("expected each way once, got ", from, " to ", to, " again"));
  }

  absl::Status ReadCell(Column column, const std::string& cell, std::string& from, std::string& to, Way& way) const {
    if (column == Column::kFrom) from = cell;
    if (column == Column::kTo) to = cell;
    if (column == Column::kMbps) {
      const absl::StatusOr<double> mbps = Number(cell, "a rate above 0 in Mbit/s", kLeastMbps, kMostMbps);
      if (!mbps.ok()) return mbps.status();
      way.mbps = *mbps;
    }
    if (column != Column::kRoundTripMs && column != Column::kDelayMs) return absl::OkStatus();
    const absl::StatusOr<double> ms = Number(cell, "milliseconds", 0, kMostMs);
    if (!ms.ok()) return ms.status();
    way.delay_ms = column == Column::kRoundTripMs ? *ms / 2 : *ms;
    return absl::OkStatus();
  }

  const std::string file_name_;
  int line_ = 0;
  std::vector<Column> columns_ = {Column::kFrom, Column::kTo, Column::kMbps, Column::kRoundTripMs};
  std::vector<std::string> nodes_;  // in the order in which they came
  Ways ways_;
};

std::string Quoted(const std::string& name) { return absl::StrCat("\"", name, "\""); }

// Returns the mean of the delays that are known.
std::optional<double> MeanDelay(const Way& there, const Way& back) {
  if (!there.delay_ms.has_value()) return back.delay_ms;
  return back.delay_ms.has_value() ? (*there.delay_ms + *back.delay_ms) / 2 : there.delay_ms;
}

}  // namespace

absl::StatusOr<std::string> OverlayOfMeasurements(absl::string_view table, absl::string_view file_name) {
  Table read(file_name);
  if (absl::Status status = read.Read(table); !status.ok()) return status;
  std::string text = "nodes:\n";
  for (const std::string& name : read.nodes()) absl::StrAppend(&text, "  - {name: ", Quoted(name), "}\n");
  absl::StrAppend(&text, "links:\n");
  for (const auto& [ends, there] : read.ways()) {
    const auto reverse = read.ways().find({ends.second, ends.first});
    if (reverse != read.ways().end() && ends.second < ends.first) continue;
    const Way& back = reverse == read.ways().end() ? there : reverse->second;
    absl::StrAppendFormat(&text, "  - {between: [%s, %s], mbps: [%g, %g]", Quoted(ends.first), Quoted(ends.second),
                          there.mbps, back.mbps);
    const std::optional<double> delay_ms = MeanDelay(there, back);
    if (delay_ms.has_value()) absl::StrAppendFormat(&text, ", delay_ms: %g", *delay_ms);
    absl::StrAppend(&text, "}\n");
  }
  return text;
}

}  // namespace banyan
