// The flags by which a process gets its keys. Thread-compatible.
#ifndef BANYAN_TOOLS_FLAGS_KEY_FLAGS_H_
#define BANYAN_TOOLS_FLAGS_KEY_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/transport/security_options.h"
#include "tools/command_line.h"

namespace banyan {

class KeyFlags {
 public:
  // What a process is: a daemon that others connect to, or a command that connects to a scheduler.
  enum class Use { kNode, kScheduler, kCommand };

  // Declares --key, --scheduler-key and --insecure in `line`, as far as `use` has them. This outlives `line`.
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

// Returns where keys lie when nobody says it, the likeliest first: beside `overlay`, unless that is empty, this user's,
// those of the machine, here, and in the folder keys, where the documents have them made.
std::vector<std::string> KeyFolders(const std::string& overlay = "");

}  // namespace banyan

#endif  // BANYAN_TOOLS_FLAGS_KEY_FLAGS_H_
