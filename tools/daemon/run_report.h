// The file of a run: the last status of a job with low-bit rounds, with the audit of their routes. Thread-compatible;
// owned by the scheduler's command.
//
// Invariants:
// - Readers never see a part of it.
// - It is at most kEvery answers behind, and up to date once this is gone.
#ifndef BANYAN_TOOLS_DAEMON_RUN_REPORT_H_
#define BANYAN_TOOLS_DAEMON_RUN_REPORT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tools/daemon/daemon_log.h"
#include "tools/daemon/state_place.h"

namespace banyan {

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
  void Take(const std::string& json);

 private:
  void Write();

  std::string file_;
  std::string folder_;  // where there is no file_ yet
  LogFunction log_;
  std::string json_;  // that is not written yet
  int answers_ = 0;
  bool has_failed_ = false;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_RUN_REPORT_H_
