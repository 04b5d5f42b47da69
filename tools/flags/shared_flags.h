// Flags that several commands have, with the rules that belong to them. Values and functions; thread-compatible. A
// command line into which they are declared does not outlive them.
#ifndef BANYAN_TOOLS_FLAGS_SHARED_FLAGS_H_
#define BANYAN_TOOLS_FLAGS_SHARED_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/transport/security_options.h"
#include "tools/command_line.h"
#include "tools/flag_values.h"
#include "topology/network_view.h"
#include "topology/overlay/link_schedule.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// --- --scheduler of the commands that talk to a running job (scheduler_flag.cc) ---

// Declares the flag in `line`. `otherwise` tells in the help what counts without it and without the environment's; it
// is empty where nothing does.
void AddSchedulerFlag(CommandLine& line, absl::string_view otherwise, std::string* addresses);

// Returns the addresses that the flag names. INVALID_ARGUMENT, naming the flag, when there are none or one is wrong.
absl::StatusOr<std::vector<std::string>> ReadSchedulerFlag(const std::string& addresses);

// --- the flags by which a process gets its keys ---

class KeyFlags {
 public:
  // What a process is: a daemon that others connect to, or a command that connects to a scheduler.
  enum class Use { kNode, kScheduler, kCommand };

  // Declares --key, --scheduler-key and --insecure in `line`, as far as `use` has them.
  void AddTo(CommandLine& line, Use use);

  // Says whose process this is, a daemon's, and of which overlay file, after the flags were read: without --key its key
  // is OWNER.key where one is, beside the overlay, in the folders that the help names, here or in keys.
  void BelongTo(const std::string& owner, const std::string& overlay = "");
  // Looks for the key of a command beside this overlay file first.
  void LookBeside(const std::string& overlay) { overlay_ = overlay; }
  // The file of the key; empty for none.
  std::string file() const;
  // Returns the keys; nothing without a file. INVALID_ARGUMENT, or the error of the file, says what to do.
  absl::StatusOr<std::optional<SecurityOptions>> Read() const;
  // Refuses a daemon on `addresses` that others reach, if it has neither keys nor --insecure.
  absl::Status CheckAddresses(const std::vector<std::string>& addresses) const;

 private:
  std::string file_;                 // as the flag says
  std::vector<std::string> owners_;  // whose files are looked for without it
  std::string overlay_;
  std::string scheduler_keys_;  // with commas between them
  bool insecure_ = false;
  Use use_ = Use::kCommand;
};

// Returns where keys lie when no flag says it, the nearest first: beside `overlay`, unless that is empty; in the folder
// keys, where the documents have them made; here; those of this user; those of the machine.
std::vector<std::string> KeyFolders(const std::string& overlay = "");

// --- the flags by which commands choose a planner and what it shall do, instead of what the overlay says ---

class PlannerFlags {
 public:
  // Declares --planner, --roots and --shares in `line`.
  void AddTo(CommandLine& line);

  // Puts what was given into `overlay`. INVALID_ARGUMENT names a flag that the planner has no use for, or more roots
  // than there are nodes.
  absl::Status Apply(OverlayConfig& overlay) const;

  bool has_roots() const { return has_roots_; }
  const std::optional<int>& roots() const { return roots_; }

 private:
  std::string planner_;  // empty: the file's
  bool has_roots_ = false;
  std::optional<int> roots_;  // empty with has_roots_: all
  std::string shares_;        // empty: the file's
};

// Refuses `flag` (without its dashes) unless `planner` has a use for it.
absl::Status CheckPlannerUse(const std::string& flag, const std::string& planner);

// --- the flags that say how the rates of links change while something runs, simulated or emulated ---

class LinkChangeFlags {
 public:
  // Declares --changes and those of --redraw-... in `line`.
  void AddTo(CommandLine& line);

  std::optional<LinkRedraw> Redraw(uint64_t seed) const;
  bool ReadsStandardInput() const { return changes_ == "-"; }
  // Those of the file, in order of time; none without one.
  absl::StatusOr<std::vector<LinkChange>> LoadChanges(const NetworkView& view) const;

 private:
  std::string changes_;  // a file; empty for none
  double redraw_seconds_ = 0;
  std::optional<RateRange> redraw_rates_;
  double redraw_fraction_ = 1;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_FLAGS_SHARED_FLAGS_H_
