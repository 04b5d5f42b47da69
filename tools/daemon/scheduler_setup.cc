#include "tools/daemon/scheduler_setup.h"

#include <poll.h>

#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "precision/audit/audit_file.h"
#include "tools/daemon/daemon_run.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {

// --- the files of low-bit rounds ---

absl::StatusOr<std::optional<PrecisionFiles>> LoadPrecision(const OverlayConfig& overlay) {
  if (overlay.precision.profile.empty()) return std::nullopt;
  const std::filesystem::path folder = std::filesystem::path(overlay.file_name).parent_path();
  const std::string profile_name = (folder / overlay.precision.profile).string();
  const std::string binding_name = (folder / overlay.precision.binding).string();
  const absl::StatusOr<std::string> profile_text = ReadOverlayText(profile_name);
  if (!profile_text.ok()) return profile_text.status();
  absl::StatusOr<OperatingProfile> profile = ReadProfile(*profile_text, profile_name);
  if (!profile.ok()) return profile.status();
  const absl::StatusOr<std::string> binding_text = ReadOverlayText(binding_name);
  if (!binding_text.ok()) return binding_text.status();
  absl::StatusOr<PrecisionBinding> binding = ReadBinding(*binding_text, binding_name);
  if (!binding.ok()) return binding.status();
  return PrecisionFiles{*std::move(profile), *std::move(binding)};
}

// --- the wait until it may lead ---

namespace {

// A part of the shortest lease, so that the wait for its end counts most.
constexpr int kTryIntervalMs = 250;
// What is stored may be large.
constexpr int kTriesPerCheck = 8;

bool StopsWithin(const StopSignals& signals, int milliseconds) {
  pollfd entry = {.fd = signals.fd(), .events = POLLIN, .revents = 0};
  return poll(&entry, 1, milliseconds) > 0;
}

// Reasons why nobody can be asked differ from try to try, and one of them is enough.
bool IsNews(const absl::Status& status, const absl::Status& told) {
  return status.code() != told.code() || (absl::IsAlreadyExists(status) && status != told);
}

}  // namespace

absl::Status WaitForLeadership(const StopSignals& signals, Leadership& leadership, const LogFunction& log,
                               const StandbyCheck& check) {
  absl::Status told;
  bool is_checked = !check;
  for (int tries = 0; !signals.received(); ++tries) {
    NotifyWatchdog();
    const absl::Status status = leadership.Campaign();
    if (status.ok()) {
      log(LogLevel::kInfo, "this process leads now");
      return status;
    }
    if (!absl::IsAlreadyExists(status) && !absl::IsUnavailable(status)) return status;
    if (IsNews(status, told)) {
      log(absl::IsUnavailable(status) ? LogLevel::kWarning : LogLevel::kInfo,
          absl::StrCat("standing by: ", status.message()));
      told = status;
    }
    if (!is_checked && absl::IsAlreadyExists(status) && tries % kTriesPerCheck == 0) {
      const absl::StatusOr<bool> may = check();
      if (!may.ok()) return may.status();
      is_checked = *may;
    }
    if (StopsWithin(signals, kTryIntervalMs)) break;
  }
  return absl::CancelledError("asked to end while it stood by");
}

// --- where its state lies ---

std::string StatePlace::Describe(const OverlayConfig& overlay) const {
  switch (kind) {
    case StatePlaceKind::kDirectory:
      return absl::StrCat("in ", directory);
    case StatePlaceKind::kEtcd:
      return absl::StrCat("in etcd at ", absl::StrJoin(overlay.scheduler.etcd, ", "));
    case StatePlaceKind::kNowhere:
      break;
  }
  return "nowhere: the job ends with this process, and nodes and training must start again (--forgetful)";
}

absl::StatusOr<StatePlace> ChooseStatePlace(const OverlayConfig& overlay, const std::string& directory, bool forgetful,
                                            const std::string& state_home) {
  if (forgetful && !directory.empty()) {
    return absl::InvalidArgumentError("expected --state-dir or --forgetful, got both; leave one of them out");
  }
  if (!overlay.scheduler.etcd.empty()) {
    if (!forgetful && directory.empty()) return StatePlace{StatePlaceKind::kEtcd, ""};
    return absl::InvalidArgumentError(absl::StrCat("expected no ", forgetful ? "--forgetful" : "--state-dir",
                                                   ", since scheduler.etcd of ", overlay.file_name,
                                                   " says where the state is; leave the flag out, or that key"));
  }
  if (forgetful) return StatePlace{StatePlaceKind::kNowhere, ""};
  if (!directory.empty()) return StatePlace{StatePlaceKind::kDirectory, directory};
  if (state_home.empty()) {
    return absl::InvalidArgumentError(
        "expected --state-dir, where the state is kept, since neither XDG_STATE_HOME nor HOME tells; or --forgetful");
  }
  return StatePlace{StatePlaceKind::kDirectory, absl::StrCat(state_home, "/banyan/", overlay.job)};
}

// --- the file of a run ---

RunReport::RunReport(const std::string& file, const StatePlace& place, LogFunction log)
    : file_(file),
      folder_(place.kind == StatePlaceKind::kDirectory ? place.directory : std::string()),
      log_(std::move(log)) {}

void RunReport::Take(const JobStatus& status) {
  if (file_.empty() && folder_.empty()) return;
  status_ = status;
  if (answers_++ % kEvery == 0) Write();
}

void RunReport::Write() {
  if (!status_.has_value()) return;
  if (file_.empty()) file_ = absl::StrCat(folder_, "/precision-", status_->term, ".json");
  const absl::Status written = WriteRunFile(file_, absl::StrCat(StatusJson(*status_), "\n"));
  status_.reset();
  if (!written.ok() && !std::exchange(has_failed_, true)) log_(LogLevel::kWarning, std::string(written.message()));
}

}  // namespace banyan
