// The command `banyan`: one subcommand per file beside this one.

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
#include "absl/types/span.h"
#include "posix/descriptor_limit.h"
#include "posix/program_path.h"
#include "posix/stop_signals.h"
#include "runtime/chunk_heap.h"
#include "tools/bench_command.h"
#include "tools/calibrate/calibrate_command.h"
#include "tools/chaos/chaos_command.h"
#include "tools/command_table.h"
#include "tools/demo/demo_command.h"
#include "tools/doctor/doctor_command.h"
#include "tools/keygen/keygen_command.h"
#include "tools/node_command.h"
#include "tools/plan_command.h"
#include "tools/preflight/preflight_command.h"
#include "tools/reconfigure_command.h"
#include "tools/replay/replay_command.h"
#include "tools/scheduler_command.h"
#include "tools/sim_command.h"
#include "tools/sim_faults_command.h"
#include "tools/sim_figures_command.h"
#include "tools/status_command.h"
#include "tools/stop_command.h"
#include "tools/terminal/command_arguments.h"
#include "tools/terminal/standard_output.h"
#include "tools/trace/trace_command.h"
#include "tools/view/view_command.h"
#include "tools/wan_command.h"

namespace {

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

int SchedulerCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  return banyan::SchedulerCommand(arguments, StateHome(), out, err);
}

banyan::CommandTable Commands() {
  return banyan::CommandTable(
      "banyan", "Trains one model in many data centres over a slow, uneven, changing network.",
      {{"scheduler", "runs the scheduler of a job", SchedulerCommand},
       {"node", "runs the node of one data centre", banyan::NodeCommand},
       {"status", "shows what a running job is doing", banyan::StatusCommand},
       {"reconfigure", "changes how a running job travels", banyan::ReconfigureCommand},
       {"remove", "takes a node out of a running job", banyan::RemoveCommand},
       {"veto", "has low-bit rounds of a running job fall back", banyan::VetoCommand},
       {"keygen", "makes secret keys, and the lines that list them", banyan::KeygenCommand},
       {"stop", "ends a job for all its nodes", banyan::StopCommand},
       {"replay", "runs a training again from transcripts", banyan::ReplayCommand},
       {"view", "opens the page of a recorded job", banyan::ViewCommand},
       {"trace", "says what rounds of a job waited for", banyan::TraceCommand},
       {"plan", "shows how gradients would travel over an overlay", banyan::PlanCommand},
       {"calibrate", "makes a profile for low-bit rounds of past losses", banyan::CalibrateCommand},
       {"preflight", "checks a profile and a binding for low-bit rounds", banyan::PreflightCommand},
       {"sim", "simulates a job's rounds over an overlay", banyan::SimCommand},
       {"sim-faults", "simulates random jobs under random faults", banyan::SimFaultsCommand},
       {"sim-figures", "simulates the figures of an evaluation", banyan::SimFiguresCommand},
       {"doctor", "looks for what will keep a job from running", banyan::DoctorCommand},
       {"wan", "emulates a WAN on this machine", banyan::WanCommand},
       {"bench", "measures Banyan on this machine", banyan::BenchCommand},
       {"chaos", "breaks a running job, to see it survive", banyan::ChaosCommand},
       {"demo", "nine data centres train one model on this machine", banyan::DemoCommand}});
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
  std::vector<std::string> arguments(argv + 1, argv + argc);
  absl::StatusOr<std::vector<std::string>> told =
      banyan::WithDefaultScheduler(std::move(arguments), Environment("BANYAN_SCHEDULER"));
  if (!told.ok()) {
    std::cerr << "banyan: " << told.status().message() << "\n";
    return 2;
  }
  arguments = banyan::WithDefaultKey(banyan::WithInstalledSamples(*std::move(told), InstalledPrefix()), KeyFolders());
  const int code = Commands().Run(arguments, std::cout, std::cerr);
  return RunsDaemon(arguments) ? code : banyan::FinishOutput(code, "banyan", std::cerr);
}
