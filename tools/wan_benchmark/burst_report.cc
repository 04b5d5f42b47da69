#include "tools/wan_benchmark/burst_report.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/json_writer.h"
#include "core/units.h"

namespace banyan {
namespace {

// The least time within which this part of the rounds is done.
double Quantile(const std::vector<ContenderResult::Round>& rounds, double part) {
  std::vector<double> seconds;
  for (const ContenderResult::Round& round : rounds) seconds.push_back(round.seconds);
  std::sort(seconds.begin(), seconds.end());
  return seconds[static_cast<size_t>(part * static_cast<double>(seconds.size() - 1))];
}

// A contender's times, in seconds.
struct Times {
  explicit Times(const ContenderResult& result)
      : quiet(Quantile(result.quiet_rounds, 0.5)),
        median(Quantile(result.rounds, 0.5)),
        p99(Quantile(result.rounds, 0.99)) {}
  double quiet;
  double median;
  double p99;
};

std::string LinksOf(const ContenderResult& result) {
  return absl::StrJoin(result.loaded, ", ", [](std::string* out, const ContenderResult::Link& link) {
    absl::StrAppend(out, link.from, "-", link.to);
  });
}

std::string BurstRow(const ContenderResult& result) {
  const std::string name = absl::StrFormat("%-26s", result.contender.description);
  if (!result.ok()) return absl::StrCat(name, "failed: ", std::string(result.status.message()), "\n");
  const Times times(result);
  return absl::StrFormat("%s%6.2f  %6.2f (%.2f)  %6.2f (%.2f)  %6d  %s%s%s\n", name, times.quiet, times.median,
                         times.median / times.quiet, times.p99, times.p99 / times.quiet, result.rounds.size(),
                         LinksOf(result), result.note.empty() ? "" : "  ", result.note);
}

}  // namespace

std::string BurstReportText(const WanReport& report) {
  std::string text = absl::StrFormat(
      "%s: all-reduce of %.1f MB; seconds of rounds, and over the undisturbed median; TCP with %s\n\n"
      "%-26s quiet  in bursts       99 %%             rounds  links with bursts\n",
      report.overlay, report.model_bits / 8 / kBytesPerMegabyte, report.congestion, "contender");
  for (const ContenderResult& result : report.results) absl::StrAppend(&text, BurstRow(result));
  absl::StrAppend(
      &text,
      "\nWhere there are times, all replicas were identical bit by bit, and nothing was missing after a flush.\n");
  for (const std::string& line : report.left_out) absl::StrAppend(&text, line, "\n");
  return text;
}

std::string BurstReportJson(const WanReport& report) {
  JsonWriter json;
  json.BeginObject().Name("overlay").String(report.overlay);
  json.Name("model_bytes").Integer(static_cast<uint64_t>(report.model_bits / 8));
  json.Name("congestion").String(report.congestion).Name("contenders").BeginArray();
  for (const ContenderResult& result : report.results) {
    json.BeginObject().Name("name").String(result.contender.name);
    if (result.ok()) {
      const Times times(result);
      json.Name("quiet_seconds_p50").Number(times.quiet).Name("seconds_p50").Number(times.median);
      json.Name("seconds_p99").Number(times.p99).Name("p99_over_quiet").Number(times.p99 / times.quiet);
      json.Name("rounds").Integer(result.rounds.size()).Name("links").String(LinksOf(result));
      json.Name("note").String(result.note);
    } else {
      json.Name("failure").String(std::string(result.status.message()));
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text() + "\n";
}

}  // namespace banyan
