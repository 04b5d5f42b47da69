#include "tools/demo_dashboard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace banyan {
namespace {

constexpr int kLinksPerRow = 3;

double Milliseconds(absl::Duration time) { return absl::ToDoubleMilliseconds(time); }
double Megabytes(uint64_t size_bytes) { return static_cast<double>(size_bytes) / 1e6; }

std::string Bar(int64_t done, int64_t all, int width) {
  const int full = all > 0 ? static_cast<int>(done * width / all) : 0;
  return absl::StrCat("[", std::string(full, '#'), std::string(width - full, '.'), "]");
}

std::vector<LinkBytes> BusiestFirst(std::vector<LinkBytes> links) {
  std::stable_sort(links.begin(), links.end(),
                   [](const LinkBytes& a, const LinkBytes& b) { return a.sent_bytes > b.sent_bytes; });
  return links;
}

std::string FormatLink(const LinkBytes& link, uint64_t most_bytes) {
  const int width = 8;
  const int full = most_bytes > 0 ? static_cast<int>(link.sent_bytes * width / most_bytes) : 0;
  return absl::StrFormat("%-10s %7.1f MB %-8s", absl::StrCat(link.from, ">", link.to), Megabytes(link.sent_bytes),
                         std::string(full, '='));
}

void AppendLinks(const DemoProgress& progress, int link_rows, std::vector<std::string>& lines) {
  const std::vector<LinkBytes> links = BusiestFirst(progress.links());
  const size_t shown = std::min(links.size(), static_cast<size_t>(link_rows) * kLinksPerRow);
  if (shown == 0) return;
  lines.push_back(
      absl::StrFormat("links: %.1f MB in all%s", Megabytes(progress.wire_bytes()),
                      shown < links.size() ? absl::StrCat(", the ", shown, " busiest of ", links.size()) : ""));
  const uint64_t most_bytes = links.front().sent_bytes;
  for (size_t i = 0; i < shown; i += kLinksPerRow) {
    std::string row;
    for (size_t j = i; j < std::min(shown, i + kLinksPerRow); ++j) {
      absl::StrAppend(&row, "  ", FormatLink(links[j], most_bytes));
    }
    lines.push_back(row);
  }
}

std::string FormatAccuracy(const DemoProgress& progress, const char* unknown) {
  return progress.accuracy() ? absl::StrFormat("%.4f", *progress.accuracy()) : unknown;
}

}  // namespace

std::vector<std::string> DrawDashboard(const DemoProgress& progress, absl::string_view state, absl::Duration elapsed,
                                       int width, int link_rows) {
  std::vector<std::string> lines;
  const int64_t done = progress.finished_rounds();
  lines.push_back(absl::StrFormat("%s round %d of %d, %.0f s", Bar(done, progress.rounds(), 30), done,
                                  progress.rounds(), absl::ToDoubleSeconds(elapsed)));
  if (done == 0) {
    lines.push_back(std::string(state));
  } else {
    lines.push_back(absl::StrFormat("loss %.4f   synchronisation %.1f ms, median %.1f ms", progress.loss(),
                                    Milliseconds(progress.sync_time()), Milliseconds(progress.median_sync_time())));
  }
  AppendLinks(progress, link_rows, lines);
  for (std::string& line : lines) {
    if (line.size() > static_cast<size_t>(width)) line.resize(width);
  }
  return lines;
}

std::string ProgressLine(const DemoProgress& progress, absl::Duration elapsed) {
  return absl::StrFormat("round %d/%d  loss %.3f  sync %.1f ms (median %.1f)  wire %.1f MB  %.0f s",
                         progress.finished_rounds(), progress.rounds(), progress.loss(),
                         Milliseconds(progress.sync_time()), Milliseconds(progress.median_sync_time()),
                         Megabytes(progress.wire_bytes()), absl::ToDoubleSeconds(elapsed));
}

std::string SummaryLine(const DemoProgress& progress) {
  return absl::StrFormat("demo: nodes=%d rounds=%d accuracy=%s replicas=%s sync_ms_p50=%.1f wire_mb=%.1f",
                         progress.nodes(), progress.finished_rounds(), FormatAccuracy(progress, "unknown"),
                         progress.replicas_identical() ? "identical" : "different",
                         Milliseconds(progress.median_sync_time()), Megabytes(progress.wire_bytes()));
}

std::string SummaryJson(const DemoProgress& progress) {
  std::string links;
  for (const LinkBytes& link : progress.links()) {
    absl::StrAppend(&links, links.empty() ? "" : ",", "{\"from\":\"", link.from, "\",\"to\":\"", link.to,
                    "\",\"bytes\":", link.sent_bytes, "}");
  }
  return absl::StrFormat(
      R"({"nodes":%d,"rounds":%d,"accuracy":%s,"replicas_identical":%s,"sync_seconds_p50":%.6f,"wire_bytes":%d,"links":[%s]})",
      progress.nodes(), progress.finished_rounds(), FormatAccuracy(progress, "null"),
      progress.replicas_identical() ? "true" : "false", absl::ToDoubleSeconds(progress.median_sync_time()),
      progress.wire_bytes(), links);
}

}  // namespace banyan
