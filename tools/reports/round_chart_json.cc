#include "tools/reports/round_chart_json.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/json_value.h"
#include "core/json_writer.h"

namespace banyan {
namespace {

void WriteSpans(const char* name, const RoundChart::Spans& spans, JsonWriter& json) {
  json.Name(name).BeginArray();
  for (const auto& [begin, end] : spans) json.Number(begin).Number(end);
  json.EndArray();
}

void WriteLink(const RoundChart::Link& link, JsonWriter& json) {
  json.BeginObject().Name("from").String(link.from).Name("to").String(link.to);
  json.Name("bytes").Integer(link.size_bytes).Name("busy_s").Number(link.busy_s);
  json.Name("on_path").Boolean(link.is_on_path);
  WriteSpans("carries", link.carries, json);
  WriteSpans("waits", link.waits, json);
  json.EndObject();
}

void WriteRound(const RoundChart& chart, JsonWriter& json) {
  json.Name("round").Integer(chart.round->value()).Name("sentence").String(chart.sentence);
  json.Name("seconds").Number(chart.seconds).Name("path").BeginArray();
  for (const RoundChart::Part& part : chart.path) {
    json.BeginObject().Name("from").String(part.from).Name("to").String(part.to).Name("text").String(part.text);
    json.Name("begin_s").Number(part.begin_s).Name("end_s").Number(part.end_s).EndObject();
  }
  json.EndArray().Name("links").BeginArray();
  for (const RoundChart::Link& link : chart.links) WriteLink(link, json);
  json.EndArray().Name("links_left_out").Integer(chart.links_left_out);
}

// Reads one value; throws std::invalid_argument with its name and what it should be.
class Reader {
 public:
  Reader(const JsonValue& value, std::string name) : value_(value), name_(std::move(name)) {
    if (!value_) throw std::invalid_argument(absl::StrCat("expected a member ", name_, ", got none"));
  }

  Reader At(const std::string& name) const {
    if (value_.kind() != JsonValue::Kind::kObject) Refuse("an object");
    return Reader(value_[name], name_.empty() ? name : absl::StrCat(name_, ".", name));
  }

  template <typename Each>
  void ForEach(const Each& each) const {
    if (value_.kind() != JsonValue::Kind::kArray) Refuse("a list");
    size_t index = 0;
    for (const JsonValue& entry : value_) each(Reader(entry, absl::StrCat(name_, "[", index++, "]")));
  }

  bool IsNull() const { return value_.IsNull(); }

  std::string Text() const {
    if (value_.kind() != JsonValue::Kind::kString) Refuse("a string");
    return value_.as<std::string>();
  }

  double Number() const {
    return Plain<double>("a finite number from 0 on", [](double n) { return n >= 0; });
  }
  uint64_t Integer() const {
    return Plain<uint64_t>("a whole number from 0 on", [](uint64_t) { return true; });
  }
  bool Boolean() const {
    return Plain<bool>("true or false", [](bool) { return true; });
  }

  RoundChart::Spans Spans() const {
    RoundChart::Spans spans;
    std::optional<double> begin_s;
    ForEach([&](const Reader& time) {
      const double at_s = time.Number();
      if (begin_s.has_value() && at_s < *begin_s) time.Refuse("a time not before the one in front of it");
      if (begin_s.has_value()) spans.emplace_back(*begin_s, at_s);
      begin_s = begin_s.has_value() ? std::nullopt : std::optional<double>(at_s);
    });
    if (begin_s.has_value()) Refuse("an end for each beginning");
    return spans;
  }

  [[noreturn]] void Refuse(const char* expected) const {
    throw std::invalid_argument(absl::StrCat("expected ", expected, " as ", name_.empty() ? "the trace" : name_));
  }

 private:
  template <typename Value, typename IsRight>
  Value Plain(const char* expected, const IsRight& is_right) const {
    try {
      const Value value = value_.as<Value>();
      if (std::isfinite(static_cast<double>(value)) && is_right(value)) return value;
    } catch (const JsonMismatch&) {
    }
    Refuse(expected);
  }

  const JsonValue& value_;
  const std::string name_;
};

RoundChart::Link ReadLink(const Reader& row) {
  RoundChart::Link link{row.At("from").Text(), row.At("to").Text(), row.At("bytes").Integer(),
                        row.At("busy_s").Number(), row.At("on_path").Boolean()};
  link.carries = row.At("carries").Spans();
  link.waits = row.At("waits").Spans();
  return link;
}

RoundChart ReadChart(const Reader& json) {
  RoundChart chart;
  json.At("missing").ForEach([&](const Reader& row) {
    chart.missing.push_back({row.At("node").Text(), row.At("reason").Text()});
  });
  if (json.At("round").IsNull()) return chart;
  chart.round = Round(json.At("round").Integer());
  chart.sentence = json.At("sentence").Text();
  chart.seconds = json.At("seconds").Number();
  json.At("path").ForEach([&](const Reader& row) {
    chart.path.push_back({row.At("from").Text(), row.At("to").Text(), row.At("text").Text(), row.At("begin_s").Number(),
                          row.At("end_s").Number()});
    if (chart.path.back().end_s < chart.path.back().begin_s) row.At("end_s").Refuse("a time not before begin_s");
  });
  json.At("links").ForEach([&](const Reader& row) { chart.links.push_back(ReadLink(row)); });
  chart.links_left_out = json.At("links_left_out").Integer();
  return chart;
}

}  // namespace

std::string RoundChartJson(const RoundChart& chart) {
  JsonWriter json;
  json.BeginObject().Name("missing").BeginArray();
  for (const TraceEnd::Missing& row : chart.missing) {
    json.BeginObject().Name("node").String(row.node).Name("reason").String(row.reason).EndObject();
  }
  json.EndArray();
  if (chart.round.has_value()) {
    WriteRound(chart, json);
  } else {
    json.Name("round").Null();
  }
  json.EndObject();
  return json.text();
}

absl::StatusOr<RoundChart> ReadRoundChart(absl::string_view json) {
  const absl::StatusOr<JsonValue> value = JsonValue::Parse(json);
  if (!value.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected the trace of a round as JSON: ", value.status().message()));
  }
  try {
    return ReadChart(Reader(*value, ""));
  } catch (const std::invalid_argument& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace banyan
