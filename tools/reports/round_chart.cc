#include "tools/reports/round_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/field_json_reader.h"
#include "tracing/critical_path.h"
#include "tracing/path_sentence.h"

namespace banyan {
namespace {

// --- the chart ---

// A picture is hardly wider in pixels.
constexpr double kPixels = 1000;

using Ends = std::pair<NodeId, NodeId>;
using Spans = std::vector<std::pair<double, double>>;

// Joins spans that overlap or are less than `gap_s` apart.
std::vector<double> Join(Spans spans, double gap_s) {
  std::sort(spans.begin(), spans.end());
  std::vector<double> joined;
  for (const auto& [begin, end] : spans) {
    if (!joined.empty() && begin <= joined.back() + gap_s) {
      joined.back() = std::max(joined.back(), end);
    } else {
      joined.insert(joined.end(), {begin, end});
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
    struct Carried {
      uint64_t size_bytes = 0;
      Spans carries;
      Spans waits;
    };
    std::map<Ends, Carried> links;
    for (const Hop& hop : trace_.hops) {
      if (hop.received_at <= path_.begin || hop.ready_at >= path_.end) continue;
      Carried& link = links[{hop.from, hop.to}];
      link.size_bytes += static_cast<uint64_t>(hop.size_bytes);
      link.carries.emplace_back(SecondsOf(hop.sent_at), SecondsOf(hop.received_at));
      if (hop.ready_at < hop.sent_at) link.waits.emplace_back(SecondsOf(hop.ready_at), SecondsOf(hop.sent_at));
    }
    std::set<Ends> on_path;
    for (const PathPart& part : path_.parts) on_path.insert({part.from, part.to});
    std::vector<RoundChart::Link> rows;
    for (auto& [ends, link] : links) {
      rows.push_back({trace_.NameOf(ends.first), trace_.NameOf(ends.second), link.size_bytes, 0, on_path.contains(ends),
                      Join(std::move(link.carries), seconds_ / kPixels),
                      Join(std::move(link.waits), seconds_ / kPixels)});
      const std::vector<double>& times = rows.back().carries;
      for (size_t i = 0; i < times.size(); i += 2) rows.back().busy_s += times[i + 1] - times[i];
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
      return a.carries.front() < b.carries.front();
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

constexpr Range kChartSeconds = {0.0, std::numeric_limits<double>::max()};

// Expects that the times rise.
void CheckTimes(FieldReader& fields, const char* name, const std::vector<double>& times) {
  const auto earlier = std::is_sorted_until(times.begin(), times.end());
  fields.Expect(earlier == times.end(), name, "times of which none is before the one in front of it",
                earlier == times.end() ? "" : absl::StrCat(*earlier));
}

}  // namespace

template <typename Visitor>
void Fields(Visitor& v, RoundChart::Part& m) {
  v(1, "from", m.from);
  v(2, "to", m.to);
  v(3, "text", m.text);
  v(4, "begin_s", m.begin_s, kChartSeconds);
  v(5, "end_s", m.end_s, kChartSeconds);
  v.Check([&m](FieldReader& fields) { CheckTimes(fields, "end_s", {m.begin_s, m.end_s}); });
}

template <typename Visitor>
void Fields(Visitor& v, RoundChart::Link& m) {
  v(1, "from", m.from);
  v(2, "to", m.to);
  v(3, "bytes", m.size_bytes);
  v(4, "busy_s", m.busy_s, kChartSeconds);
  v(5, "on_path", m.is_on_path);
  v(6, "carries", m.carries, kChartSeconds);
  v(7, "waits", m.waits, kChartSeconds);
  v.Check([&m](FieldReader& fields) {
    for (const auto& [name, times] : {std::pair("carries", &m.carries), std::pair("waits", &m.waits)}) {
      CheckTimes(fields, name, *times);
      fields.Expect(times->size() % 2 == 0, name, "an end for each beginning", absl::StrCat(times->size(), " times"));
    }
  });
}

template <typename Visitor>
void Fields(Visitor& v, RoundChart& m) {
  v(1, "missing", m.missing);
  v(2, "round", m.round);
  if (!m.round.has_value()) return;
  v(3, "sentence", m.sentence);
  v(4, "seconds", m.seconds, kChartSeconds);
  v(5, "path", m.path);
  v(6, "links", m.links);
  v(7, "links_left_out", m.links_left_out);
}

std::string RoundChartJson(const RoundChart& chart) { return JsonOf(chart); }

absl::StatusOr<RoundChart> ReadRoundChart(absl::string_view json) {
  return ParseJsonFields<RoundChart>(json, "the trace of a round", "missing", /*wants_all=*/true);
}

}  // namespace banyan
