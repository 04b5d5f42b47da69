#include "tools/reports/round_chart.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/json_value.h"
#include "core/json_writer.h"
#include "tracing/critical_path.h"
#include "tracing/path_sentence.h"

namespace banyan {
namespace {

// --- the chart ---

// A picture is hardly wider in pixels.
constexpr double kPixels = 1000;

using Ends = std::pair<NodeId, NodeId>;
using Spans = RoundChart::Spans;

// Joins spans that overlap or are less than `gap_s` apart.
Spans Join(Spans spans, double gap_s) {
  std::sort(spans.begin(), spans.end());
  Spans joined;
  for (const auto& [begin, end] : spans) {
    if (!joined.empty() && begin <= joined.back().second + gap_s) {
      joined.back().second = std::max(joined.back().second, end);
    } else {
      joined.emplace_back(begin, end);
    }
  }
  return joined;
}

class ChartMaker {
 public:
  ChartMaker(const JobTrace& trace, const CriticalPath& path)
      : trace_(trace), path_(path), seconds_(absl::ToDoubleSeconds(path.end - path.begin)) {}

  void Fill(RoundChart& chart) const {
    chart.round = path_.round;
    chart.sentence = SentenceOf(path_, trace_, {});
    chart.seconds = seconds_;
    for (const PathPart& part : path_.parts) {
      chart.path.push_back({trace_.NameOf(part.from), trace_.NameOf(part.to), NameOf(part, trace_, {}),
                            SecondsOf(part.begin), SecondsOf(part.end)});
    }
    chart.links = Links();
    chart.links_left_out = Choose(chart.links);
  }

 private:
  double SecondsOf(Timestamp at) const { return std::clamp(absl::ToDoubleSeconds(at - path_.begin), 0.0, seconds_); }

  std::vector<RoundChart::Link> Links() const {
    std::map<Ends, RoundChart::Link> links;
    for (const Hop& hop : trace_.hops) {
      if (hop.received_at <= path_.begin || hop.ready_at >= path_.end) continue;
      RoundChart::Link& link = links[{hop.from, hop.to}];
      link.size_bytes += static_cast<uint64_t>(hop.size_bytes);
      link.carries.emplace_back(SecondsOf(hop.sent_at), SecondsOf(hop.received_at));
      if (hop.ready_at < hop.sent_at) link.waits.emplace_back(SecondsOf(hop.ready_at), SecondsOf(hop.sent_at));
    }
    std::set<Ends> on_path;
    for (const PathPart& part : path_.parts) on_path.insert({part.from, part.to});
    std::vector<RoundChart::Link> rows;
    for (auto& [ends, link] : links) {
      link.from = trace_.NameOf(ends.first);
      link.to = trace_.NameOf(ends.second);
      link.is_on_path = on_path.contains(ends);
      link.carries = Join(std::move(link.carries), seconds_ / kPixels);
      link.waits = Join(std::move(link.waits), seconds_ / kPixels);
      for (const auto& [begin, end] : link.carries) link.busy_s += end - begin;
      rows.push_back(std::move(link));
    }
    return rows;
  }

  // Returns how many it has left out.
  static size_t Choose(std::vector<RoundChart::Link>& links) {
    std::stable_sort(links.begin(), links.end(), [](const RoundChart::Link& a, const RoundChart::Link& b) {
      return std::pair(a.is_on_path, a.size_bytes) > std::pair(b.is_on_path, b.size_bytes);
    });
    const size_t left_out = links.size() - std::min(links.size(), kMostChartLinks);
    links.resize(links.size() - left_out);
    std::stable_sort(links.begin(), links.end(), [](const RoundChart::Link& a, const RoundChart::Link& b) {
      return a.carries.front().first < b.carries.front().first;
    });
    return left_out;
  }

  const JobTrace& trace_;
  const CriticalPath& path_;
  const double seconds_;
};

}  // namespace

RoundChart MakeRoundChart(const JobTrace& trace, std::vector<TraceEnd::Missing> missing, std::optional<Round> round) {
  RoundChart chart;
  chart.missing = std::move(missing);
  if (!round.has_value()) {
    const std::vector<Round> rounds = trace.CompleteRounds();
    if (rounds.empty()) return chart;
    round = rounds.back();
  }
  const std::optional<CriticalPath> path = PathFinder(trace).Find(*round);
  if (path.has_value()) ChartMaker(trace, *path).Fill(chart);
  return chart;
}

// --- as JSON ---

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
