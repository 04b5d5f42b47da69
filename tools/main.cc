// The command `banyan`: one subcommand per file beside this one; all_commands.cc lists them.

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posix/descriptor_limit.h"
#include "posix/program_path.h"
#include "posix/stop_signals.h"
#include "runtime/chunk_heap.h"
#include "tools/command_table.h"
#include "tools/terminal/command_arguments.h"
#include "tools/terminal/standard_output.h"

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

// Where keys lie when nobody says it: this user's, and those of the machine.
std::vector<std::string> KeyFolders() {
  const char* const home = std::getenv("HOME");
  std::vector<std::string> folders;
  if (home != nullptr && *home == '/') folders.push_back(std::string(home) + "/.config/banyan");
  folders.push_back("/etc/banyan");
  return folders;
}

// The value of an environment variable; empty when it is not set.
std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
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
  banyan::OutliveLogRotation();
  banyan::RaiseDescriptorLimit();
  banyan::KeepChunksInHeap();
  UseOneThreadForAlgebra();
  std::vector<std::string> arguments(argv + 1, argv + argc);
  absl::StatusOr<std::vector<std::string>> told =
      banyan::WithDefaultScheduler(std::move(arguments), Environment("BANYAN_SCHEDULER"));
  if (!told.ok()) {
    std::cerr << "banyan: " << told.status().message() << "\n";
    return 2;
  }
  arguments = banyan::WithDefaultKey(banyan::WithInstalledSamples(*std::move(told), InstalledPrefix()), KeyFolders());
  const banyan::CommandTable commands("banyan",
                                      "Trains one model in many data centres over a slow, uneven, changing network.",
                                      banyan::ProgramCommands(StateHome()));
  const int code = commands.Run(arguments, std::cout, std::cerr);
  return RunsDaemon(arguments) ? code : banyan::FinishOutput(code, "banyan", std::cerr);
}
