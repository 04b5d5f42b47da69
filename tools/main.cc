// The command `banyan`: one subcommand per file beside this one.

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/chunk_heap.h"
#include "tools/bench_command.h"
#include "tools/chaos/chaos_command.h"
#include "tools/command_table.h"
#include "tools/demo/demo_command.h"
#include "tools/doctor_command.h"
#include "tools/node_command.h"
#include "tools/plan_command.h"
#include "tools/reconfigure_command.h"
#include "tools/scheduler_command.h"
#include "tools/sim_command.h"
#include "tools/sim_faults_command.h"
#include "tools/sim_figures_command.h"
#include "tools/status_command.h"
#include "tools/stop_command.h"
#include "tools/wan_command.h"

namespace {

// Where this user's programs keep state, as the XDG base directory specification has it; empty when nothing says so.
std::string StateHome() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return state;
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/state" : "";
}

int SchedulerCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  return banyan::SchedulerCommand(arguments, StateHome(), out, err);
}

}  // namespace

int main(int argc, char** argv) {
  banyan::KeepChunksInHeap();
  const banyan::CommandTable table(
      "banyan", "Trains one model in many data centres over a slow, uneven, changing network.",
      {{"scheduler", "runs the scheduler of a job", SchedulerCommand},
       {"node", "runs the node of one data centre", banyan::NodeCommand},
       {"status", "shows what a running job is doing", banyan::StatusCommand},
       {"reconfigure", "changes how a running job travels", banyan::ReconfigureCommand},
       {"remove", "takes a node out of a running job", banyan::RemoveCommand},
       {"stop", "ends a job for all its nodes", banyan::StopCommand},
       {"plan", "shows how gradients would travel over an overlay", banyan::PlanCommand},
       {"sim", "simulates a job's rounds over an overlay", banyan::SimCommand},
       {"sim-faults", "simulates random jobs under random faults", banyan::SimFaultsCommand},
       {"sim-figures", "simulates the figures of an evaluation", banyan::SimFiguresCommand},
       {"doctor", "looks whether this machine's clock is right", banyan::DoctorCommand},
       {"wan", "emulates a WAN on this machine", banyan::WanCommand},
       {"bench", "measures Banyan on this machine", banyan::BenchCommand},
       {"chaos", "breaks a running job, to see it survive", banyan::ChaosCommand},
       {"demo", "nine data centres train one model on this machine", banyan::DemoCommand}});
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return table.Run(arguments, std::cout, std::cerr);
}
