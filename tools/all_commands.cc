#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
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
  return {{"local", "trains at several sites on this machine", LocalCommand},
          {"run", "trains at one site: a node, and a program beside it", RunCommand},
          {"scheduler", "runs the scheduler of a job",
           [state_home](absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
             return SchedulerCommand(arguments, state_home, out, err);
           }},
          {"node", "runs the node of one data centre", NodeCommand},
          {"status", "shows what a running job is doing", StatusCommand},
          {"reconfigure", "changes how a running job travels", ReconfigureCommand},
          {"remove", "takes a node out of a running job", RemoveCommand},
          {"veto", "has low-bit rounds of a running job fall back", VetoCommand},
          {"keygen", "makes secret keys, and the lines that list them", KeygenCommand},
          {"stop", "ends a job for all its nodes", StopCommand},
          {"replay", "runs a training again from transcripts", ReplayCommand},
          {"view", "opens the page of a recorded job", ViewCommand},
          {"trace", "says what rounds of a job waited for", TraceCommand},
          {"plan", "shows how gradients would travel over an overlay", PlanCommand},
          {"calibrate", "makes a profile for low-bit rounds of past losses", CalibrateCommand},
          {"preflight", "checks a profile and a binding for low-bit rounds", PreflightCommand},
          {"sim", "simulates a job's rounds over an overlay", SimCommand},
          {"sim-faults", "simulates random jobs under random faults", SimFaultsCommand},
          {"sim-figures", "simulates the figures of an evaluation", SimFiguresCommand, !has_figures},
          {"doctor", "looks for what will keep a job from running", DoctorCommand},
          {"wan", "emulates a WAN on this machine", WanCommand},
          {"bench", "measures Banyan on this machine", BenchCommand},
          {"chaos", "breaks a running job, to see it survive", ChaosCommand},
          {"demo", "nine data centres train one model on this machine", DemoCommand, !has_trainer}};
}

}  // namespace banyan
