#include "tools/reports/round_chart.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "core/json_writer.h"
#include "tracing/path_sentence.h"

namespace banyan {
namespace {

// A picture is hardly wider in pixels.
constexpr double kPixels = 1000;

using Ends = std::pair<NodeId, NodeId>;
using Spans = std::vector<std::pair<double, double>>;  // in seconds

struct LinkRow {
  Ends ends;
  int64_t size_bytes = 0;
  double busy_s = 0;
  bool is_on_path = false;
  Spans carries;
  Spans waits;
};

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

class RoundChart {
 public:
  RoundChart(const JobTrace& trace, const CriticalPath& path)
      : trace_(trace), path_(path), seconds_(absl::ToDoubleSeconds(path.end - path.begin)) {
    std::set<Ends> on_path;
    for (const PathPart& part : path.parts) on_path.insert({part.from, part.to});
    std::map<Ends, LinkRow> links;
    for (const Hop& hop : trace.hops) {
      if (hop.received_at <= path.begin || hop.ready_at >= path.end) continue;
      LinkRow& row = links[{hop.from, hop.to}];
      row.size_bytes += hop.size_bytes;
      row.carries.emplace_back(SecondsOf(hop.sent_at), SecondsOf(hop.received_at));
      if (hop.ready_at < hop.sent_at) row.waits.emplace_back(SecondsOf(hop.ready_at), SecondsOf(hop.sent_at));
    }
    for (auto& [ends, row] : links) {
      row.ends = ends;
      row.is_on_path = on_path.contains(ends);
      row.carries = Join(std::move(row.carries), seconds_ / kPixels);
      row.waits = Join(std::move(row.waits), seconds_ / kPixels);
      for (const auto& [begin, end] : row.carries) row.busy_s += end - begin;
      rows_.push_back(std::move(row));
    }
    Choose();
  }

  void Write(JsonWriter& json) const {
    json.Name("round").Integer(path_.round.value()).Name("sentence").String(SentenceOf(path_, trace_, {}));
    json.Name("seconds").Number(seconds_).Name("path").BeginArray();
    for (const PathPart& part : path_.parts) {
      json.BeginObject().Name("from").String(trace_.NameOf(part.from)).Name("to").String(trace_.NameOf(part.to));
      json.Name("text").String(NameOf(part, trace_, {})).Name("begin_s").Number(SecondsOf(part.begin));
      json.Name("end_s").Number(SecondsOf(part.end)).EndObject();
    }
    json.EndArray().Name("links").BeginArray();
    for (const LinkRow& row : rows_) {
      json.BeginObject().Name("from").String(trace_.NameOf(row.ends.first));
      json.Name("to").String(trace_.NameOf(row.ends.second));
      json.Name("bytes").Integer(static_cast<uint64_t>(row.size_bytes)).Name("busy_s").Number(row.busy_s);
      json.Name("on_path").Boolean(row.is_on_path);
      WriteSpans("carries", row.carries, json);
      WriteSpans("waits", row.waits, json);
      json.EndObject();
    }
    json.EndArray().Name("links_left_out").Integer(left_out_);
  }

 private:
  double SecondsOf(Timestamp at) const { return std::clamp(absl::ToDoubleSeconds(at - path_.begin), 0.0, seconds_); }

  static void WriteSpans(const char* name, const Spans& spans, JsonWriter& json) {
    json.Name(name).BeginArray();
    for (const auto& [begin, end] : spans) json.Number(begin).Number(end);
    json.EndArray();
  }

  void Choose() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const LinkRow& a, const LinkRow& b) {
      return std::pair(a.is_on_path, a.size_bytes) > std::pair(b.is_on_path, b.size_bytes);
    });
    left_out_ = rows_.size() - std::min(rows_.size(), kMostChartLinks);
    rows_.resize(rows_.size() - left_out_);
    std::stable_sort(rows_.begin(), rows_.end(), [](const LinkRow& a, const LinkRow& b) {
      return a.carries.front().first < b.carries.front().first;
    });
  }

  const JobTrace& trace_;
  const CriticalPath& path_;
  const double seconds_;
  std::vector<LinkRow> rows_;
  size_t left_out_ = 0;
};

}  // namespace

std::string RoundChartJson(const JobTrace& trace, const std::vector<TraceEnd::Missing>& missing) {
  JsonWriter json;
  json.BeginObject().Name("missing").BeginArray();
  for (const TraceEnd::Missing& row : missing) {
    json.BeginObject().Name("node").String(row.node).Name("reason").String(row.reason).EndObject();
  }
  json.EndArray();
  const std::vector<Round> rounds = trace.CompleteRounds();
  std::optional<CriticalPath> path;
  if (!rounds.empty()) path = PathFinder(trace).Find(rounds.back());
  if (path.has_value()) {
    RoundChart(trace, *path).Write(json);
  } else {
    json.Name("round").Null();
  }
  json.EndObject();
  return json.text();
}

}  // namespace banyan
