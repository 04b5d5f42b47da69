#include "tools/reports/round_chart.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/time/time.h"
#include "tracing/critical_path.h"
#include "tracing/path_sentence.h"

namespace banyan {
namespace {

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

}  // namespace banyan
