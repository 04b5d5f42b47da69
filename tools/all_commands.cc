#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "posix/program_path.h"
#include "tools/command_table.h"
#include "tools/commands.h"

namespace banyan {

std::vector<Command> ProgramCommands(const std::string& state_home) {
  // They are in the repository, and not installed.
  std::error_code error;
  const bool has_figures = std::filesystem::is_directory("sim/scenarios", error);
  const bool has_trainer = FindProgram("examples/fashion_mnist/trainer").ok();
  std::vector<Command> commands;
  const auto add = [&commands](const std::string& group, std::vector<Command> some) {
    for (Command& command : InGroup(group, std::move(some))) commands.push_back(std::move(command));
  };
  add("Run a job", {{"local", "trains at several sites on this machine", LocalCommand},
                    {"run", "trains at one site: a node, and a program beside it", RunCommand},
                    {"scheduler", "runs the scheduler of a job",
                     [state_home](absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
                       return SchedulerCommand(arguments, state_home, out, err);
                     }},
                    {"node", "runs the node of one data centre", NodeCommand},
                    {"keygen", "makes secret keys, and the lines that list them", KeygenCommand},
                    {"doctor", "looks for what will keep a job from running", DoctorCommand}});
  add("Watch it", {{"status", "shows what a running job is doing", StatusCommand},
                   {"trace", "says what rounds of a running job waited for", TraceCommand},
                   {"view", "shows the dashboard of a recorded job", ViewCommand}});
  add("Change it", {{"reconfigure", "changes links, plan or keys of a running job", ReconfigureCommand},
                    {"remove", "takes a node out of a running job", RemoveCommand},
                    {"veto", "ends low-bit rounds of a running job", VetoCommand},
                    {"stop", "ends a job for all its nodes", StopCommand}});
  add("Plan and try", {{"plan", "shows how gradients would travel over an overlay", PlanCommand},
                       {"sim", "simulates a job's rounds over an overlay", SimCommand},
                       {"wan", "emulates a WAN on this machine", WanCommand},
                       {"chaos", "breaks a running job, to see it survive", ChaosCommand},
                       {"demo", "nine data centres train one model on this machine", DemoCommand, !has_trainer},
                       {"calibrate", "makes a profile for low-bit rounds from past losses", CalibrateCommand},
                       {"preflight", "checks a profile and a binding for low-bit rounds", PreflightCommand}});
  add("Develop", {{"bench", "measures Banyan on this machine", BenchCommand},
                  {"replay", "runs a training again from transcripts", ReplayCommand},
                  {"sim-faults", "simulates random jobs under random faults", SimFaultsCommand},
                  {"sim-figures", "simulates the figures of an evaluation", SimFiguresCommand, !has_figures}});
  return commands;
}

}  // namespace banyan
