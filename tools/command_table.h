// The subcommands of a command: finding one by its name, the help that lists all. Thread-compatible.
#ifndef BANYAN_TOOLS_COMMAND_TABLE_H_
#define BANYAN_TOOLS_COMMAND_TABLE_H_

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace banyan {

struct Command {
  std::string name;
  std::string description;  // one line
  // Takes what comes after the name and returns the exit code: 0 success, 1 failure, 2 usage.
  std::function<int(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err)> run;
  bool is_hidden = false;  // help does not list it: what it needs is not here
  std::string group = {};  // under which help lists it
};

class CommandTable {
 public:
  // `name` is that of the whole, as a user types it; `description` one line.
  CommandTable(std::string name, std::string description, std::vector<Command> commands)
      : name_(std::move(name)), description_(std::move(description)), commands_(std::move(commands)) {}

  // Runs the command that the first argument names and returns its exit code; 2 when it names none. Asked to describe
  // itself it prints each command with its description, for completion.
  int Run(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) const;
  // Lists commands of a group below each other.
  std::string Help() const;
  // The manual page, with `summary` in its first line.
  std::string Manual(absl::string_view summary) const;

 private:
  const std::string name_;
  const std::string description_;
  const std::vector<Command> commands_;
};

// Returns the commands of this program in the order in which help lists them: all of them (all_commands.cc), or what a
// job is run and broken with (job_commands.cc), which is built in less time. `state_home` is where this user's programs
// keep state; empty when nothing says so.
std::vector<Command> ProgramCommands(const std::string& state_home);

// Returns `commands`, each in the group.
std::vector<Command> InGroup(const std::string& group, std::vector<Command> commands);

}  // namespace banyan

#endif  // BANYAN_TOOLS_COMMAND_TABLE_H_
