#include "scheduler/members/node_reports.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

absl::Status CheckRows(const char* what, size_t rows, size_t limit) {
  if (rows <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a report with ", rows, " rows of ", what, ", ", limit, " at most expected"));
}

bool IsSaneName(const NodeReport::Memory& row) {
  return row.what.size() <= kMaxReportNameBytes && IsPrintable(row.what);
}

}  // namespace

absl::Status NodeReports::Accept(NodeId node, const NodeReport& report, size_t node_count, size_t key_count) {
  if (absl::Status status = CheckRows("links", report.links.size(), node_count); !status.ok()) return status;
  if (absl::Status status = CheckRows("memory", report.memory.size(), kMaxReportMemoryRows); !status.ok())
    return status;
  if (absl::Status status = CheckRows("progress", report.progress.size(), key_count); !status.ok()) return status;
  if (!std::all_of(report.memory.begin(), report.memory.end(), IsSaneName)) {
    return absl::InvalidArgumentError("a report whose memory rows have unprintable or too long names");
  }
  reports_[node] = report;
  return absl::OkStatus();
}

const NodeReport* NodeReports::Find(NodeId node) const {
  const auto found = reports_.find(node);
  return found == reports_.end() ? nullptr : &found->second;
}

bool IsHelper(const Member& member, const NodeReport* report) {
  const bool has_none = report != nullptr && report->workers_attached == 0;
  return has_none && member.has_had_workers && !member.is_workerless;
}

}  // namespace banyan
