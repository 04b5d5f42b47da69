#include "tools/reports/trace_report.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tracing/chrome_trace.h"
#include "tracing/critical_path.h"

namespace banyan {
namespace {

// Above this, times of different nodes say little of short hops.
constexpr absl::Duration kCertain = absl::Milliseconds(1);

}  // namespace

LinkRates RatesOf(const NetworkView& view) {
  LinkRates rates;
  for (const NetworkLink& link : view.links()) rates[{link.from, link.to}] = link.throughput_bps;
  return rates;
}

std::string TraceText(const JobTrace& trace, const std::vector<CriticalPath>& paths, const LinkRates& rates) {
  std::string text;
  for (const CriticalPath& path : paths) absl::StrAppend(&text, SentenceOf(path, trace, rates), "\n");
  for (const NodeId node : trace.unaligned) {
    absl::StrAppend(&text, trace.NameOf(node), " is not in the trace: its clock compares with no other\n");
  }
  if (trace.left_out > 0) {
    absl::StrAppend(&text, "the trace lacks ", trace.left_out, " records for which nodes had no room\n");
  }
  if (trace.clock_uncertainty > kCertain) {
    absl::StrAppend(&text, "where links are slower one way than the other, times of two nodes may be ",
                    absl::FormatDuration(absl::Ceil(trace.clock_uncertainty, absl::Milliseconds(1))), " apart\n");
  }
  return text;
}

absl::Status CheckWritable(const std::string& file) {
  if (file.empty()) return absl::OkStatus();
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(file).parent_path();
  int wrong = 0;
  if (!parent.empty() && !std::filesystem::is_directory(parent, error)) wrong = ENOENT;
  if (std::filesystem::is_directory(file, error)) wrong = EISDIR;
  if (wrong == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", file, ": ", std::strerror(wrong)));
}

absl::Status WriteTrace(const JobTrace& trace, const std::vector<CriticalPath>& paths, const LinkRates& rates,
                        const std::string& file) {
  std::ofstream out(file, std::ios::trunc);
  out << ChromeTrace(trace, paths, rates) << "\n";
  out.close();
  if (out.good()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", file, ": ", std::strerror(errno)));
}

}  // namespace banyan
