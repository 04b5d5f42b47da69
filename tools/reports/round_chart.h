// What a page shows of a traced round: a row per link, and the critical path; and that as JSON, which the page
// is told and recordings keep. A value, and pure functions.
#ifndef BANYAN_TOOLS_REPORTS_ROUND_CHART_H_
#define BANYAN_TOOLS_REPORTS_ROUND_CHART_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "proto/tracing/trace_messages.h"
#include "tracing/job_trace.h"

namespace banyan {

// Links beyond so many, those that carried least and are not on the path, are left out.
inline constexpr size_t kMostChartLinks = 100;

// Times are seconds from the round's beginning.
struct RoundChart {
  struct Part {
    std::string from;
    std::string to;  // the same, where no link is meant
    std::string text;
    double begin_s = 0;
    double end_s = 0;
  };
  struct Link {
    std::string from;
    std::string to;
    uint64_t size_bytes = 0;
    double busy_s = 0;
    bool is_on_path = false;
    // Beginnings and ends in turn. What is less than a pixel apart is one span.
    std::vector<double> carries = {};
    std::vector<double> waits = {};
  };

  // Its JSON has these members in this order, and without a round those two alone.
  std::vector<TraceEnd::Missing> missing;  // nodes whose records are not in it
  std::optional<Round> round;              // empty: none was complete, and nothing of the rest is there
  std::string sentence;
  double seconds = 0;
  std::vector<Part> path;   // without gaps
  std::vector<Link> links;  // in the order of their first chunk
  uint64_t links_left_out = 0;
};

// Makes the chart of a round; of the last complete one of the trace where none is named.
RoundChart MakeRoundChart(const JobTrace& trace, std::vector<TraceEnd::Missing> missing,
                          std::optional<Round> round = std::nullopt);

// Encodes the chart, on one line: round_chart.cc describes it.
std::string RoundChartJson(const RoundChart& chart);

// Decodes it, and checks all of it. `json` is JSON on one line. INVALID_ARGUMENT says which member was expected to be
// what; members that it does not know are passed over.
absl::StatusOr<RoundChart> ReadRoundChart(absl::string_view json);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_ROUND_CHART_H_
