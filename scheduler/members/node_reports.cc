#include "scheduler/members/node_reports.h"

#include <algorithm>
#include <type_traits>
#include <vector>

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

// Of one kind of rows.
template <typename Row>
uint64_t LargestOf(const std::vector<Row>& rows, uint64_t Row::*field) {
  uint64_t largest = 0;
  for (const Row& row : rows) largest = std::max(largest, row.*field);
  return largest;
}

// Visits counters.
struct Largest {
  static constexpr bool kReads = false;
  uint64_t value = 0;
  template <typename Member, typename... Limits>
  void operator()(int, const char*, Member& member, Limits...) {
    if constexpr (std::is_same_v<Member, uint64_t>) value = std::max(value, member);
  }
};

// A sum of several of them must have room as well.
absl::Status CheckCounts(const NodeReport& report) {
  Largest counter;
  NodeCounters of_node = report;
  Fields(counter, of_node);
  for (LinkCounters of_link : report.links) Fields(counter, of_link);
  uint64_t largest = std::max({counter.value, report.rejected_messages, report.step,
                               LargestOf(report.memory, &NodeReport::Memory::size_bytes),
                               LargestOf(report.not_finite, &NodeReport::NotFinite::values)});
  for (const NodeReport::KeyProgress& key : report.progress) largest = std::max(largest, key.round.value());
  if (largest <= kMaxReportCount) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a report that counts ", largest, ", at most ", kMaxReportCount, " expected"));
}

}  // namespace

absl::Status NodeReports::Accept(NodeId node, const NodeReport& report, size_t node_count, size_t key_count,
                                 Timestamp now) {
  if (absl::Status status = CheckRows("links", report.links.size(), node_count); !status.ok()) return status;
  if (absl::Status status = CheckRows("memory", report.memory.size(), kMaxReportMemoryRows); !status.ok())
    return status;
  if (absl::Status status = CheckRows("progress", report.progress.size(), key_count); !status.ok()) return status;
  if (!std::all_of(report.memory.begin(), report.memory.end(), IsSaneName)) {
    return absl::InvalidArgumentError("a report whose memory rows have unprintable or too long names");
  }
  if (absl::Status status = CheckCounts(report); !status.ok()) return status;
  const auto [kept, is_first] = reports_.try_emplace(node, Kept{report, now});
  if (report.contributions != kept->second.report.contributions) contributed_at_ = kept->second.contributed_at = now;
  kept->second.report = report;
  return absl::OkStatus();
}

const NodeReport* NodeReports::Find(NodeId node) const {
  const auto found = reports_.find(node);
  return found == reports_.end() ? nullptr : &found->second.report;
}

absl::Duration NodeReports::IdleFor(NodeId node) const {
  const auto found = reports_.find(node);
  if (found == reports_.end()) return absl::ZeroDuration();
  return std::max(absl::ZeroDuration(), contributed_at_ - found->second.contributed_at);
}

bool IsHelper(const Member& member, const NodeReport* report) {
  const bool has_none = report != nullptr && report->workers_attached == 0;
  return has_none && member.has_had_workers && !member.is_workerless;
}

}  // namespace banyan
