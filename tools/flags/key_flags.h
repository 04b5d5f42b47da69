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

  // Returns the keys; nothing without --key. INVALID_ARGUMENT, or the error of the file, says what to do.
  absl::StatusOr<std::optional<SecurityOptions>> Read() const;
  // Refuses a daemon on `addresses` that others reach, if it has neither keys nor --insecure.
  absl::Status CheckAddresses(const std::vector<std::string>& addresses) const;

 private:
  std::string file_;
  std::string scheduler_keys_;  // with commas between them
  bool insecure_ = false;
  Use use_ = Use::kCommand;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_FLAGS_KEY_FLAGS_H_
