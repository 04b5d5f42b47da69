// The command `banyan`: one subcommand per file beside this one; all_commands.cc lists them.

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "posix/process_limits.h"
#include "posix/program_path.h"
#include "posix/stop_signals.h"
#include "tools/command_line.h"
#include "tools/command_table.h"
#include "tools/completion.h"
#include "tools/manual.h"
#include "tools/terminal/main_support.h"

namespace {

// The linear programs of plans are small: threads of OpenBLAS only wait for each other there. Other BLAS libraries lack
// the function.
void UseOneThreadForAlgebra() {
  using SetThreads = void (*)(int);
  if (auto set_threads = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set_threads(1);
}

// Where this user's programs keep state, as the XDG base directory specification has it; empty when nothing says so.
std::string StateHome() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return state;
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/state" : "";
}

// The value of an environment variable; empty when it is not set.
std::string Environment(const std::string& name) {
  static const bool has_no_flags = std::getenv(banyan::kNoVariables) != nullptr;
  if (has_no_flags && name.rfind("BANYAN_", 0) == 0) return "";
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

// The variables are those of this command: daemons of its own jobs get all by flags.
void KeepVariablesFromDaemons(const std::vector<std::string>& arguments) {
  if (arguments.empty() || (arguments.front() != "demo" && arguments.front() != "bench")) return;
  Environment("");
  setenv(banyan::kNoVariables, "1", 1);
}

// The folder below which this program is installed, as PREFIX/bin/banyan.
std::string InstalledPrefix() {
  const absl::StatusOr<std::string> own = banyan::OwnProgram();
  return own.ok() ? std::filesystem::path(*own).parent_path().parent_path().string() : "";
}

// The exit code of daemons tells supervisors of the job, whatever became of their standard output. Asked for a text,
// they are commands like the others.
bool RunsDaemon(const std::vector<std::string>& arguments) {
  if (arguments.empty() || (arguments.front() != "scheduler" && arguments.front() != "node")) return false;
  constexpr const char* kQuestions[] = {"--check", "--help", "-h", "--version"};
  return std::find_first_of(arguments.begin(), arguments.end(), std::begin(kQuestions), std::end(kQuestions)) ==
         arguments.end();
}

}  // namespace

int main(int argc, char** argv) {
  banyan::OpenStandardStreams();
  banyan::OutliveReaders();
  banyan::OutliveFullFiles();
  banyan::OutliveLogRotation();
  banyan::RaiseDescriptorLimit();
  UseOneThreadForAlgebra();
  banyan::CommandLine::SetEnvironment(Environment);
  const std::vector<std::string> arguments =
      banyan::WithInstalledSamples(std::vector<std::string>(argv + 1, argv + argc), InstalledPrefix());
  KeepVariablesFromDaemons(arguments);
  const std::string description = "Trains one model in many data centres over a slow, uneven, changing network.";
  const banyan::CommandTable commands(
      "banyan", description,
      banyan::WithManual(description, banyan::WithCompletion(banyan::ProgramCommands(StateHome()))));
  const int code = commands.Run(arguments, std::cout, std::cerr);
  return RunsDaemon(arguments) ? code : banyan::FinishOutput(code, "banyan", std::cerr);
}
