#include "sim/testing/memory_checker.h"

#include <algorithm>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

constexpr int64_t kModelsKept = 3;

int64_t BytesOf(const NodeReport& report, const char* what) {
  for (const NodeReport::Memory& row : report.memory) {
    if (row.what == what) return static_cast<int64_t>(row.size_bytes);
  }
  return 0;
}

std::string RowsText(const NodeReport& report) {
  return absl::StrJoin(report.memory, ", ", [](std::string* out, const NodeReport::Memory& row) {
    absl::StrAppend(out, row.what, " ", row.size_bytes);
  });
}

}  // namespace

void MemoryChecker::OnDelivered(const SentMessage& sent) {
  const auto* report = std::get_if<NodeReport>(&sent.message);
  if (report == nullptr) return;
  ++reports_;
  const int64_t round_bytes =
      BytesOf(*report, "contributions") + BytesOf(*report, "sums") + BytesOf(*report, "results");
  most_round_bytes_ = std::max(most_round_bytes_, round_bytes);
  Check(sent, "contributions, sums and results", round_bytes,
        kModelsKept * limits_.model_bytes + limits_.worker_segment_bytes);
  Check(sent, "early data", BytesOf(*report, "early"), limits_.early_bytes + limits_.slack_bytes);
  Check(sent, "relayed data", BytesOf(*report, "relayed"), limits_.relay_bytes + limits_.slack_bytes);
}

void MemoryChecker::Check(const SentMessage& sent, const char* what, int64_t bytes, int64_t limit_bytes) {
  if (limit_bytes == 0 || bytes <= limit_bytes) return;
  violations_->Add(sent.now, "bounded",
                   absl::StrCat("node ", sent.from.value(), " holds ", bytes, " bytes of ", what, ", the limit is ",
                                limit_bytes, " (", RowsText(std::get<NodeReport>(sent.message)), ")"));
}

}  // namespace banyan
