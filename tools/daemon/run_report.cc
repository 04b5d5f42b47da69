#include "tools/daemon/run_report.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "precision/audit/audit_file.h"
#include "tools/reports/status_view.h"

namespace banyan {

RunReport::RunReport(const std::string& file, const StatePlace& place, LogFunction log)
    : file_(file),
      folder_(place.kind == StatePlaceKind::kDirectory ? place.directory : std::string()),
      log_(std::move(log)) {}

void RunReport::Take(const std::string& json) {
  if (file_.empty() && folder_.empty()) return;
  json_ = json;
  if (answers_++ % kEvery == 0) Write();
}

void RunReport::Write() {
  if (json_.empty()) return;
  if (file_.empty()) {
    const absl::StatusOr<StatusView> status = ParseStatus(json_);
    file_ = absl::StrCat(folder_, "/precision-", status.ok() ? status->term : 0, ".json");
  }
  const absl::Status written = WriteRunFile(file_, absl::StrCat(std::exchange(json_, ""), "\n"));
  if (!written.ok() && !std::exchange(has_failed_, true)) log_(LogLevel::kWarning, std::string(written.message()));
}

}  // namespace banyan
