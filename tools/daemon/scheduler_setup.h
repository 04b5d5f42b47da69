// What a scheduler needs before and beside its run: the files of low-bit rounds, the wait until it may lead, the place
// for what must survive it, and the file of its run.
#ifndef BANYAN_TOOLS_DAEMON_SCHEDULER_SETUP_H_
#define BANYAN_TOOLS_DAEMON_SCHEDULER_SETUP_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "posix/stop_signals.h"
#include "precision/profile/precision_binding.h"
#include "proto/status.h"
#include "protocol/leadership.h"
#include "tools/daemon/daemon_log.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Returns what the files say that `precision` of an overlay names, which are looked for beside it; nothing where it
// names none. An error names the file, and what is wrong in it or does not suit the job.
absl::StatusOr<std::optional<PrecisionFiles>> LoadPrecision(const OverlayConfig& overlay);

// Says whether this process may stand by for the one that leads; false while that cannot be told yet. An error says why
// it may not.
using StandbyCheck = std::function<absl::StatusOr<bool>()>;

// Tries to become the leader, several times a second, and returns OK when this process is. CANCELLED when it was asked
// to end meanwhile; any other error says why it will never lead. Logs who leads, and that nobody can be asked. While
// another one leads, `check` is asked now and then until it can tell.
absl::Status WaitForLeadership(const StopSignals& signals, Leadership& leadership, const LogFunction& log,
                               const StandbyCheck& check = {});

enum class StatePlaceKind { kDirectory, kEtcd, kNowhere };

struct StatePlace {
  StatePlaceKind kind = StatePlaceKind::kNowhere;
  std::string directory;  // of kDirectory

  // In words: "in /var/lib/banyan", "in etcd at http://a:2379".
  std::string Describe(const OverlayConfig& overlay) const;
};

// Follows the overlay and the flags --state-dir (empty: not given) and --forgetful. By default it is a directory of the
// job in `state_home`, where this user's programs keep state; empty: unknown. INVALID_ARGUMENT says what contradicts.
absl::StatusOr<StatePlace> ChooseStatePlace(const OverlayConfig& overlay, const std::string& directory, bool forgetful,
                                            const std::string& state_home);

// The file of a run: the last status of a job with low-bit rounds, with the audit of their routes. Thread-compatible;
// owned by the scheduler's command.
//
// Invariants:
// - Readers never see a part of it.
// - It is at most kEvery answers behind, and up to date once this is gone.
class RunReport {
 public:
  // Answers come about every second.
  static constexpr int kEvery = 10;

  // Writes to `file`, if it is not empty. Else to precision-TERM.json where the scheduler's state lies, one for each of
  // its starts; nowhere where no directory has the state.
  RunReport(const std::string& file, const StatePlace& place, LogFunction log);
  RunReport(const RunReport&) = delete;
  RunReport& operator=(const RunReport&) = delete;
  ~RunReport() { Write(); }

  // Takes an answer to StatusRequest.
  void Take(const JobStatus& status);

 private:
  void Write();

  std::string file_;
  std::string folder_;  // where there is no file_ yet
  LogFunction log_;
  std::optional<JobStatus> status_;  // that is not written yet
  int answers_ = 0;
  bool has_failed_ = false;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_SCHEDULER_SETUP_H_
