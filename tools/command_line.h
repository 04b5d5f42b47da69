// The flags of one subcommand: `--name value`, `--name=value`, switches and positional arguments, with help and usage
// errors that suggest. Declare everything, then Parse once. Thread-compatible; the targets must outlive Parse.
#ifndef BANYAN_TOOLS_COMMAND_LINE_H_
#define BANYAN_TOOLS_COMMAND_LINE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace banyan {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitJobIsOver = 3;  // nothing is left to do
inline constexpr int kExitNoAnswer = 4;   // of a scheduler
inline constexpr int kExitFaultFound = 5;
inline constexpr int kExitSignalled = 128;  // and the signal's number, as shells have it
// For help.
inline constexpr char kExitCodes[] =
    "Exit codes: 0 success; 1 failure; 2 wrong arguments; 3 nothing to do, since the job is over; 4 no answer from the "
    "scheduler; 5 the job has failed, or doctor has found a fault; 128 and the signal's number when asked to end.";

// With this variable in the environment flags count that are there alone.
inline constexpr char kNoVariables[] = "BANYAN_NO_VARIABLES";

// Of manual pages.
inline constexpr char kVariablesText[] =
    "Each flag has a variable, BANYAN_LOG_LEVEL for --log-level, which counts where the flag is not given; a switch "
    "takes 1 or 0. With BANYAN_NO_VARIABLES=1 none counts.";

// Asks a command for its manual page; its line in the list of commands follows.
inline constexpr char kManual[] = "--manual";

// Asks a command for its words instead of running it, for completion (completion.h).
inline constexpr char kDescribe[] = "--describe";

class CommandLine {
 public:
  // Reads one value; a status that is not OK says what was expected.
  using Reader = std::function<absl::Status(absl::string_view value)>;

  // `example` is shown by --help, with the command itself in it.
  CommandLine(std::string command, std::string description, std::string example);

  // Arguments without dashes, required, in order of declaration.
  void Positional(const std::string& name, const std::string& help, std::string* target);
  // The last of them, if there is one; `target` stays as it is without it.
  void OptionalPositional(const std::string& name, const std::string& help, std::string* target);
  // What follows `--`, at least one argument: a program and its arguments, which are not looked at.
  void Program(const std::string& help, std::vector<std::string>* target);

  // Flags may come in any order, each at most once but for Repeated. `value` names the value in the help: "N", "FILE".
  void Switch(const std::string& name, const std::string& help, bool* target);
  void Text(const std::string& name, const std::string& value, const std::string& help, std::string* target);
  void Text(const std::string& name, const std::string& value, const std::string& help,
            std::optional<std::string>* target);
  // One of `known`.
  void Choice(const std::string& name, const std::vector<std::string>& known, const std::string& help,
              std::string* target);
  void Integer(const std::string& name, const std::string& value, const std::string& help, int64_t low, int64_t high,
               int64_t* target);
  void Number(const std::string& name, const std::string& value, const std::string& help, double low, double high,
              double* target);
  // A time, with a unit or in seconds; `target`, `low` and `high` are in `unit`.
  void Time(const std::string& name, const std::string& value, const std::string& help, absl::Duration unit, double low,
            double high, double* target);
  // A size, with a unit or in bytes; `low`, `high` and the target are megabytes (10^6 bytes).
  void Megabytes(const std::string& name, const std::string& help, double low, double high, double* megabytes);
  // A rate, with a unit or in Mbit/s; `low` and `high` are in Mbit/s.
  void Rate(const std::string& name, const std::string& value, const std::string& help, double low, double high,
            double* mbps);
  void Custom(const std::string& name, const std::string& value, const std::string& help, Reader reader);
  // May be there again and again; `reader` gets each value in turn.
  void Repeated(const std::string& name, const std::string& value, const std::string& help, Reader reader);

  // Takes the flag by the name that it had before, with a warning. By that name numbers alone are in `unit`, if it is
  // given.
  void FormerName(const std::string& name, const std::string& former, const std::string& unit = "");

  // Takes no variable of the environment for the flag.
  void WithoutVariable(const std::string& name);

  // Says how variables of the environment are read. Every flag counts as given with the value of its own, which is
  // BANYAN_LOG_LEVEL for --log-level, unless it is there itself or a flag is that excludes it. A switch is on for 1,
  // true, yes and on. For main alone, which comes before any Parse; without it no variable has a value.
  static void SetEnvironment(std::function<std::string(const std::string& variable)> read);
  // Returns the value of a variable of the environment; empty where it has none.
  static std::string Variable(const std::string& variable);

  // A flag that requires `other`, a flag or a positional argument: alone it is a usage error.
  void Needs(const std::string& name, const std::string& other);
  // Two flags of which only one may be there.
  void Exclude(const std::string& name, const std::string& other);

  // Fills the targets. Returns the exit code when the command ends here: kExitSuccess after --help, --version or what
  // completion asks, printed to `out`, or kExitUsage after an error, printed to `err`.
  std::optional<int> Parse(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) const;

  // Prints a usage error that only the command can see, and returns kExitUsage.
  int UsageError(absl::string_view what, std::ostream& err) const;

  // Prints why the command has failed, and returns kExitFailure.
  int Failure(const absl::Status& status, std::ostream& err) const;
  // The same for a command that has asked a scheduler: kExitNoAnswer where that was silent.
  int SchedulerFailure(const absl::Status& status, std::ostream& err) const;

  // In at most 80 columns, as far as no word is longer.
  std::string Help() const;
  // The manual page, with `summary` in its first line.
  std::string Manual(absl::string_view summary) const;

 private:
  struct Flag {
    std::string name;
    std::string value;  // empty for a switch
    std::string help;
    Reader reader;
    bool repeats = false;
    std::string former = {};       // another name; empty for none
    std::string former_unit = {};  // of numbers alone by that name; empty: as by its own
    bool has_variable = true;
  };
  struct Argument {
    std::string name;
    std::string help;
    std::string* target = nullptr;
    bool required = true;
  };

  // Two flags that belong together, or do not.
  struct Rule {
    std::string name;
    std::string other;
    bool needs = false;  // otherwise they exclude each other
  };

  const Flag* FindFlag(absl::string_view name) const;
  Flag& Declared(const std::string& name);
  // Has a line for each flag: its name, its value and its help, with tabs between them.
  std::string Description() const;
  // Reads the variables of flags that are not there.
  absl::Status ParseVariables(std::vector<std::string>& seen) const;
  absl::Status CheckRules(const std::vector<std::string>& seen) const;
  std::vector<std::string> Usage() const;
  // Each argument and flag, and what it is.
  std::vector<std::pair<std::string, std::string>> Rows() const;
  absl::Status ParseAll(absl::Span<const std::string> arguments, std::ostream& err) const;
  // Reads the flag at arguments[*next] and moves *next past it and its value.
  absl::Status ParseFlag(absl::Span<const std::string> arguments, size_t* next, std::vector<std::string>& seen,
                         std::ostream& err) const;

  std::string command_;
  std::string description_;
  std::string example_;
  std::vector<Flag> flags_;
  std::vector<Rule> rules_;
  std::vector<Argument> arguments_;
  std::string program_help_;
  std::vector<std::string>* program_ = nullptr;  // where what follows `--` goes; null: positional arguments
};

// Returns whether words on `out` may have colours: it is this process's terminal, and NO_COLOR says nothing.
bool MayColor(const std::ostream& out);

}  // namespace banyan

#endif  // BANYAN_TOOLS_COMMAND_LINE_H_
